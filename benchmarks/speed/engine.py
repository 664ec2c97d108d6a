"""The contender *engine*: a cohort."""

from __future__ import annotations

from itertools import chain, count

import torch

from depthgauge.rules.choice import choose_rule
from depthgauge.tasks.base import Split, Task
from depthgauge.tasks.inputs import evaluation_inputs
from depthgauge.training.batches import Batches
from depthgauge.training.memory import keep_freed_memory
from depthgauge.training.readings import read_accuracy
from depthgauge.training.stacked_mlp.cohort import Cohort

from .cases import Case


def cohort_of(case: Case, runs: int, task: Task) -> Cohort:
    """Return a new cohort with so many runs of a case; the process keeps memory as workers do."""
    keep_freed_memory()
    configs, rule = case.configs(runs), choose_rule(case.rule)
    return Cohort(configs, [rule.build() for _ in configs], task)


class Engine:
    """Trains a cohort of so many runs."""

    def __init__(self, case: Case, runs: int) -> None:
        task = case.task()
        self.case, self.cohort = case, cohort_of(case, runs, task)
        self.cohort.start_epoch(0)
        self.split = evaluation_inputs(task, torch.float32)
        batches = Batches(task, self.cohort.seeds, case.batch)
        self.batches = chain.from_iterable(map(batches.epoch, count()))

    def train(self, steps: int) -> int:
        """Train some steps, with their share of evaluation; return the number of run-steps."""
        for _ in range(steps):
            self.cohort.step(next(self.batches), 0.0)
        share = self.case.share_of_evaluation(steps)
        read_accuracy(self.cohort, Split(self.split.x[:share], self.split.y[:share]))
        return steps * len(self.cohort.configs)
