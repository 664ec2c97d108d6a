"""A cohort in training, each part of which is timed from outside."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path
from unittest import mock

from depthgauge.gauges.cohort_readings import read_accuracy, read_norms
from depthgauge.gauges.norms import BATCH_READ, BATCHES_READ
from depthgauge.store.claims import BEAT_EVERY
from depthgauge.tasks.base import Split
from depthgauge.training.batches import Batch, Batches
from depthgauge.training.loop import StoppedEarlyError, train_cohort

from .cases import Case
from .engine import cohort_of
from .stopwatch import Stopwatch
from .storage import Storage

PARTS = ("data", "forward", "credit", "update", "evaluation", "diagnostics", "storage")

READ = BATCH_READ * BATCHES_READ
"""Samples on which accuracy is read here; D1 and D2 are read on so many wherever they are."""

SAVE_EVERY = 60.0
"""Seconds between two checkpoints."""


class Watched:
    """Trains some steps of an epoch in the real loop, into a real store.

    Before the steps comes what comes after every epoch: the accuracy, the norms for D1 and D2, a
    line of metrics; after them a checkpoint, because training is stopped, and a sign of life. What
    only a first step costs is over when it is made.
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
        """Seconds of each part in a whole epoch, after so many steps of it."""
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
    """From the seconds of some steps, and of what comes with every epoch, to those of an epoch.

    The first batch of an epoch is apart: with it all orders are drawn. Checkpoints and signs of
    life come as often as their clocks say while the rest goes on.
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
    """While it lasts, all `Batches` are timed: the first of an epoch, and the others."""
    plain = Batches.epoch

    def epoch(self: Batches, number: int, first: int = 0) -> Iterator[Batch]:
        batches, name = iter(plain(self, number, first)), "first batch"
        while (batch := watch.timed(name, next)(batches, None)) is not None:
            yield batch
            name = "batch"

    return mock.patch.object(Batches, "epoch", epoch)


def _after(steps: int) -> Callable[[], bool]:
    """Asked after every step: whether that was the last of so many."""
    left = iter(range(steps - 1))
    return lambda: next(left, None) is None
