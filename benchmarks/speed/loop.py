"""The contender *loop*: the best plain loop, with tensors in memory and fused AdamW."""

from __future__ import annotations

from itertools import chain, count

from depthgauge.tasks.inputs import evaluation_inputs
from depthgauge.training.batches import Batches

from .cases import Case
from .one_run import OneRun

EVALUATED_AT_ONCE = 1000


class Loop:
    """Trains the runs of a ladder, one after the other."""

    def __init__(self, case: Case, runs: int) -> None:
        task, self.case = case.task(), case
        self.runs = [OneRun(task, case, k, fused=True) for k, _ in case.ladder(runs)]
        self.split = evaluation_inputs(task, self.runs[0].net.embed.weight.dtype)
        self.batches = chain.from_iterable(map(Batches(task, [0], case.batch).epoch, count()))

    def train(self, steps: int) -> int:
        """Train each run for some steps, with its share of evaluation; return the run-steps."""
        for run in self.runs:
            for _ in range(steps):
                batch = next(self.batches)
                run.step(batch.inputs[0], batch.labels[0])
            share = self.case.share_of_evaluation(steps)
            for start in range(0, share, EVALUATED_AT_ONCE):
                part = slice(start, min(share, start + EVALUATED_AT_ONCE))
                run.correct(self.split.x[part], self.split.y[part])
        return steps * len(self.runs)
