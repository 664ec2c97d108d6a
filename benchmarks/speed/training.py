"""The contender *training*: all epochs of a cohort, with readings, store and checkpoints."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from depthgauge.tasks.base import Split
from depthgauge.training.loop import train_cohort
from depthgauge.training.readings import EVERY_EPOCH

from .cases import TRAINING_TO_EVALUATION, Case
from .engine import cohort_of
from .storage import Storage


class Training:
    """Trains all epochs of a case, with a real store."""

    def __init__(self, case: Case, runs: int) -> None:
        self.case, self.runs, self.task = case, runs, case.task()

    def train(self, steps: int) -> int:
        """Train epochs of so many steps, with evaluation in proportion; return the run-steps."""
        samples = min(self.case.samples, steps * self.case.batch)
        task = replace(
            self.task,
            train=_first(self.task.train, samples),
            evaluation=_first(self.task.evaluation, samples // TRAINING_TO_EVALUATION),
        )
        cohort = cohort_of(self.case, self.runs, task)
        with tempfile.TemporaryDirectory() as place:
            recorder = Storage(Path(place), cohort).recorder
            train_cohort(cohort, task, recorder, observers=EVERY_EPOCH)
        return steps * self.case.epochs * self.runs


def _first(split: Split, samples: int) -> Split:
    return Split(split.x[:samples], split.y[:samples])
