"""The training loop of a cohort: epochs, readings, checkpoints, divergence."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from depthgauge.gauges.epoch_metrics import EpochMetrics, RunReadings
from depthgauge.nets.stacked.network import StackedResidualMLP
from depthgauge.tasks.base import Split, Task
from depthgauge.tasks.inputs import evaluation_inputs
from depthgauge.training.batches import Batch, Batches
from depthgauge.training.cohort import Cohort

Observer = Callable[[StackedResidualMLP, Split], Sequence[RunReadings]]
"""Reads something off every run after each epoch."""

Position = tuple[int, int]
"""Whole epochs behind a run, and batches of the next one."""


class StoppedEarlyError(Exception):
    """Training was asked to stop, and has saved where it stands."""


@dataclass(frozen=True)
class RunState:
    """Everything needed to go on with a run after `epoch` epochs and `step` batches of the next.

    The seed and the number of an epoch decide its random streams and the order of its samples (see
    `depthgauge.training.random_streams`). Two more things are kept within an epoch: the sum of the
    losses so far, and how far the rule's own noise has been drawn.
    """

    epoch: int
    parameters: dict[str, Tensor]
    feedback: dict[str, Tensor]
    moments: dict[str, Tensor] = field(default_factory=dict)
    step: int = 0
    loss: float = 0.0
    noise: Tensor | None = None

    @property
    def position(self) -> Position:
        """Where in training it stands."""
        return self.epoch, self.step


class Recorder(Protocol):
    """Where a cohort's training goes: the store, or a list in memory."""

    def record_epoch(self, lines: Sequence[EpochMetrics]) -> None:
        """One line of metrics for each run."""
        ...

    def save(self, states: Sequence[RunState]) -> None:
        """One state for each run, all of the same epoch."""
        ...


def train_cohort(
    cohort: Cohort,
    task: Task,
    recorder: Recorder,
    *,
    observers: Sequence[Observer],
    start: Sequence[RunState] | None = None,
    save_every: float = 60.0,
    on_step: Callable[[int], None] = lambda steps: None,
    stop: Callable[[], bool] = lambda: False,
) -> None:
    """Train to the last epoch, from the beginning or from `start`.

    Metrics are recorded for epoch 0 (before training) and after each epoch. States are saved
    every `save_every` seconds and after the last epoch. `stop` is asked after every step: when it
    says so, the states are saved and `StoppedEarlyError` is raised.
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
    saved_at = time.monotonic()
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
            if last or stopping or time.monotonic() - saved_at >= save_every:
                recorder.save(epoch.states(with_moments=not last))
                saved_at = time.monotonic()
            if stopping and not last:
                raise StoppedEarlyError


class Epoch:
    """One epoch of a cohort, of which `step` batches are done."""

    def __init__(self, cohort: Cohort, number: int, step: int = 0) -> None:
        self.cohort, self.number, self.step = cohort, number, step
        self.losses = torch.zeros(len(cohort.configs), dtype=torch.float64, device=cohort.device)
        cohort.start_epoch(number, step)

    def train(self, batch: Batch, batches: int) -> None:
        """One step on one batch of `batches`."""
        progress = (self.number + self.step / batches) / self.cohort.recipe.epochs
        self.losses += self.cohort.step(batch, progress).double() * batch.labels.shape[1]
        self.step += 1

    def mean_losses(self, samples: int) -> list[float]:
        """Each run's mean training loss over the samples of the epoch."""
        return [float(value) for value in (self.losses / samples).tolist()]

    def states(self, with_moments: bool = True) -> list[RunState]:
        """The state of every run; moments are needed only where training goes on."""
        cohort = self.cohort
        return [
            RunState(
                self.number,
                cohort.net.state_of_run(run),
                feedback,
                cohort.optimizer.moments_of_run(run) if with_moments else {},
                self.step,
                loss,
                noise,
            )
            for run, (feedback, noise, loss) in enumerate(
                zip(cohort.feedback, cohort.noise, self.losses.tolist(), strict=True)
            )
        ]


def _lines(
    cohort: Cohort,
    split: Split,
    observers: Sequence[Observer],
    epoch: int,
    losses: Sequence[float] | None,
) -> list[EpochMetrics]:
    """Each run's metrics; a run whose loss or weights are not finite is marked as diverged."""
    readings = [observer(cohort.net, split) for observer in observers]
    lines: list[EpochMetrics] = []
    for run in range(len(cohort.configs)):
        read: RunReadings = {}
        for reading in readings:
            read |= reading[run]
        loss = losses[run] if losses else None
        finite = loss is None or math.isfinite(loss)
        state = cohort.net.state_of_run(run)
        finite = finite and all(bool(p.isfinite().all()) for p in state.values())
        lines.append({"epoch": epoch, "train_loss": loss, **read, "diverged": not finite})
    return lines


@torch.no_grad()
def restore(cohort: Cohort, states: Sequence[RunState], batches: int) -> Epoch:
    """Put saved states back into a fresh cohort: the epoch to go on with, of `batches` batches."""
    feedback = cohort.feedback
    for run, state in enumerate(states):
        for name, parameter in cohort.net.state_of_run(run).items():
            parameter.copy_(state.parameters[name])
        for name, tensor in feedback[run].items():
            tensor.copy_(state.feedback[name])
    number, step = states[0].position
    if number < cohort.recipe.epochs:
        moments = [state.moments for state in states]
        cohort.optimizer.restore(moments, number * batches + step)
    epoch = Epoch(cohort, number, step)
    epoch.losses += epoch.losses.new_tensor([state.loss for state in states])
    cohort.continue_noise([state.noise for state in states])
    return epoch
