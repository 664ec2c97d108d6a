"""A cohort in training whose parts are timed from outside."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path
from unittest import mock

from depthgauge.gauges.norms import BATCH_READ, BATCHES_READ
from depthgauge.store.claims import BEAT_EVERY
from depthgauge.tasks.base import Split
from depthgauge.training.batches import Batch, Batches
from depthgauge.training.loop import StoppedEarlyError, train_cohort
from depthgauge.training.readings import read_accuracy, read_norms

from .cases import Case
from .engine import cohort_of
from .stopwatch import Stopwatch
from .storage import Storage

PARTS = ("data", "forward", "credit", "update", "evaluation", "diagnostics", "storage")

READ = BATCH_READ * BATCHES_READ
"""The samples on which accuracy is read here; D1 and D2 are always read on so many."""

SAVE_EVERY = 60.0
"""The seconds between two checkpoints."""


class TimedCohort:
    """Trains some steps of an epoch with the real loop and a real store.

    The work of every epoch comes before the steps: accuracy, the norms for D1 and D2, a line of
    metrics. After the steps come a checkpoint, because training stops, and a heartbeat. The first
    step of the process, which is slower, is made in advance.
    """

    def __init__(self, case: Case, runs: int) -> None:
        task = case.task()
        self.case, self.cohort = case, cohort_of(case, runs, task)
        evaluation = Split(task.evaluation.x[:READ], task.evaluation.y[:READ])
        self.task, self._watch = replace(task, evaluation=evaluation), Stopwatch()
        self._watch.watch(self.cohort, "step", "step")
        self._watch.watch(self.cohort.net, "forward", "forward")
        self._watch.watch(self.cohort.optimizer, "step", "update")
        self.cohort.step(next(Batches(task, self.cohort.seeds, case.batch).epoch(0)), 0.0)

    def train(self, steps: int) -> dict[str, float]:
        """Train so many steps; return the seconds of each part of a whole epoch."""
        seconds = self._watch.seconds
        seconds.clear()
        with tempfile.TemporaryDirectory() as place:
            self._train(Storage(Path(place), self.cohort), steps)
        return in_an_epoch(seconds, self.case, steps, len(self.task.evaluation))

    def _train(self, storage: Storage, steps: int) -> None:
        watch = self._watch
        watch.watch(storage.recorder, "record_epoch", "record")
        watch.watch(storage.recorder, "save", "save")
        with timed_batches(watch), suppress(StoppedEarlyError):
            train_cohort(
                self.cohort,
                self.task,
                storage.recorder,
                observers=[
                    watch.timed("evaluation", read_accuracy),
                    watch.timed("diagnostics", read_norms),
                ],
                save_every=float("inf"),
                stop=_after(steps),
            )
        watch.timed("beat", storage.beat)()


def in_an_epoch(
    seconds: Mapping[str, float], case: Case, steps: int, evaluated: int
) -> dict[str, float]:
    """Extrapolate the seconds of some steps to those of an epoch.

    The first batch of an epoch is timed apart, because it also draws the orders of all samples.
    Checkpoints and heartbeats come at fixed intervals of time.
    """
    forward, update = seconds["step/forward"], seconds["step/update"]
    all_steps, all_but_one = case.epoch_steps / steps, (case.epoch_steps - 1) / max(1, steps - 1)
    parts = {
        "data": seconds["first batch"] + seconds["batch"] * all_but_one,
        "forward": forward * all_steps,
        "credit": (seconds["step"] - forward - update) * all_steps,
        "update": update * all_steps,
        "evaluation": seconds["evaluation"] * case.evaluation / evaluated,
        "diagnostics": seconds["diagnostics"],
    }
    by_the_clock = seconds["save"] / SAVE_EVERY + seconds["beat"] / BEAT_EVERY
    return parts | {"storage": seconds["record"] + by_the_clock * sum(parts.values())}


def timed_batches(watch: Stopwatch) -> AbstractContextManager[object]:
    """Time all batches inside the context: the first one of an epoch apart from the others."""
    plain = Batches.epoch

    def epoch(self: Batches, number: int, first: int = 0) -> Iterator[Batch]:
        batches, name = iter(plain(self, number, first)), "first batch"
        while (batch := watch.timed(name, next)(batches, None)) is not None:
            yield batch
            name = "batch"

    return mock.patch.object(Batches, "epoch", epoch)


def _after(steps: int) -> Callable[[], bool]:
    """Return a function that is true after so many calls."""
    left = iter(range(steps - 1))
    return lambda: next(left, None) is None
