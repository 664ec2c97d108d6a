"""The training loop of a cohort: epochs, readings, saved states, divergence."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Protocol

import torch

from depthgauge.gauges.epoch_metrics import EpochMetrics, RunReadings
from depthgauge.tasks.base import Split, Task
from depthgauge.tasks.inputs import evaluation_inputs
from depthgauge.training.batches import Batch, Batches
from depthgauge.training.readings import Observer
from depthgauge.training.trainee import RunState, Trainee


class StoppedEarlyError(Exception):
    """Training was asked to stop and has saved its state."""


class Recorder(Protocol):
    """Receives the metrics and states of a cohort: the store, or a list in memory."""

    def record_epoch(self, lines: Sequence[EpochMetrics]) -> None:
        """Write one line of metrics for each run."""
        ...

    def save(self, states: Sequence[RunState]) -> None:
        """Save one state for each run, all at the same step of training."""
        ...


def train_cohort(
    cohort: Trainee,
    task: Task,
    recorder: Recorder,
    *,
    observers: Sequence[Observer],
    start: Sequence[RunState] | None = None,
    save_every: float = 60.0,
    on_step: Callable[[int], None] = lambda steps: None,
    stop: Callable[[], bool] = lambda: False,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Train a cohort to the last epoch.

    Metrics are recorded before training (as epoch 0) and after each epoch. States are saved every
    `save_every` seconds and after the last epoch.

    Args:
        cohort: the runs.
        task: what the runs learn.
        recorder: receives metrics and states.
        observers: measure the runs after each epoch.
        start: the states to continue from; without them training begins at epoch 0.
        save_every: seconds between saved states.
        on_step: called with 1 after every step, for progress.
        stop: called after every step. If it returns True, states are saved and training stops.
        clock: returns the time in seconds.

    Raises:
        StoppedEarlyError: `stop` returned True before the last epoch was over.
    """
    recipe = cohort.recipe
    batches = Batches(
        task, cohort.seeds, recipe.batch_size, cohort.dtype, cohort.device, targets=recipe.targets
    )
    split = evaluation_inputs(task, cohort.dtype, cohort.device)
    epoch = Epoch(cohort, 0)
    if start is not None:
        epoch, start = restore(cohort, start, len(batches)), None
    else:
        recorder.record_epoch(_lines(cohort, split, observers, 0, None))
    saved_at = clock()
    while epoch.number < recipe.epochs:
        for batch in batches.epoch(epoch.number, epoch.step):
            epoch.train(batch, len(batches))
            on_step(1)
            stopping = stop()
            if epoch.step == len(batches):
                losses = epoch.mean_losses(len(task.train))
                epoch = Epoch(cohort, epoch.number + 1)
                recorder.record_epoch(_lines(cohort, split, observers, epoch.number, losses))
            last = epoch.number == recipe.epochs
            if last or stopping or clock() - saved_at >= save_every:
                recorder.save(epoch.states(with_moments=not last))
                saved_at = clock()
            if stopping and not last:
                raise StoppedEarlyError


class Epoch:
    """One epoch in the training of a cohort; `step` is the number of its finished batches."""

    def __init__(self, cohort: Trainee, number: int, step: int = 0) -> None:
        self.cohort, self.number, self.step = cohort, number, step
        self.losses = torch.zeros(len(cohort.configs), dtype=torch.float64, device=cohort.device)
        cohort.start_epoch(number, step)

    def train(self, batch: Batch, batches: int) -> None:
        """Train on one batch; `batches` is the number of batches in the epoch."""
        progress = (self.number + self.step / batches) / self.cohort.recipe.epochs
        self.losses += self.cohort.step(batch, progress).double() * batch.labels.shape[1]
        self.step += 1

    def mean_losses(self, samples: int) -> list[float]:
        """Return each run's mean training loss over the samples of the epoch."""
        return [float(value) for value in (self.losses / samples).tolist()]

    def states(self, with_moments: bool = True) -> list[RunState]:
        """Return the state of every run; moments are needed only if training continues."""
        return [
            RunState(
                self.number,
                own.parameters,
                own.feedback,
                own.moments,
                self.step,
                loss,
                own.noise,
            )
            for own, loss in zip(
                self.cohort.tensors(with_moments=with_moments), self.losses.tolist(), strict=True
            )
        ]


def _lines(
    cohort: Trainee,
    split: Split,
    observers: Sequence[Observer],
    epoch: int,
    losses: Sequence[float] | None,
) -> list[EpochMetrics]:
    """Return each run's metrics; a run with an infinite or NaN loss or weight has diverged."""
    readings = [observer(cohort, split) for observer in observers]
    lines: list[EpochMetrics] = []
    for run, finite in enumerate(cohort.have_finite_weights()):
        read: RunReadings = {}
        for reading in readings:
            read |= reading[run]
        loss = losses[run] if losses else None
        diverged = not finite or not (loss is None or math.isfinite(loss))
        lines.append({"epoch": epoch, "train_loss": loss, **read, "diverged": diverged})
    return lines


@torch.no_grad()
def restore(cohort: Trainee, states: Sequence[RunState], batches: int) -> Epoch:
    """Put saved states into a new cohort, and return the epoch to continue.

    Each epoch has `batches` batches.
    """
    number, step = states[0].position
    cohort.restore(states, number * batches + step)
    epoch = Epoch(cohort, number, step)
    epoch.losses += epoch.losses.new_tensor([state.loss for state in states])
    cohort.continue_noise([state.noise for state in states])
    return epoch
