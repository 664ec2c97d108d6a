"""*engine*: the cohort."""

from __future__ import annotations

from itertools import chain, count

import torch

from depthgauge.gauges.cohort import read_accuracy
from depthgauge.rules.choice import choose_rule
from depthgauge.tasks.base import Split
from depthgauge.tasks.inputs import evaluation_inputs
from depthgauge.training.batches import Batches
from depthgauge.training.cohort import Cohort

from .cases import BATCH, Case, cifar_shaped, share_of_evaluation
from .flops import CountedProducts

COUNTED = 4
"""Steps over which operations are counted, with their share of evaluation."""


class Engine:
    """A cohort of so many runs."""

    def __init__(self, case: Case, runs: int) -> None:
        task, configs = cifar_shaped(), case.configs(runs)
        rule = choose_rule(case.rule)
        self.cohort = Cohort(configs, [rule.build() for _ in configs], task)
        self.cohort.start_epoch(0)
        self.split = evaluation_inputs(task, torch.float32)
        batches = Batches(task, self.cohort.seeds, BATCH)
        self.batches = chain.from_iterable(map(batches.epoch, count()))

    def train(self, steps: int) -> int:
        """Some steps, with their share of evaluation; the number of run-steps."""
        for _ in range(steps):
            self.cohort.step(next(self.batches), 0.0)
        share = share_of_evaluation(steps)
        read_accuracy(self.cohort.net, Split(self.split.x[:share], self.split.y[:share]))
        return steps * len(self.cohort.configs)

    def flops(self) -> float:
        """Operations of all matrix products for one run-step, counted as they are made."""
        with CountedProducts() as counted:
            run_steps = self.train(COUNTED)
        return counted.flops / run_steps
