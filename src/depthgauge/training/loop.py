"""The training loop of a cohort: epochs, readings, saved states, divergence."""

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
"""A function that measures every run after each epoch."""

Position = tuple[int, int]
"""The number of finished epochs, and of finished batches of the next epoch."""


class StoppedEarlyError(Exception):
    """Training was asked to stop and has saved its state."""


@dataclass(frozen=True)
class RunState:
    """Everything that is needed to continue a run.

    The random streams and the order of samples are not saved, because both follow from the seed
    and the number of the epoch (see `depthgauge.training.random_streams`).

    Attributes:
        epoch: the number of finished epochs.
        step: the number of finished batches in the next epoch.
        parameters: the network's weights.
        feedback: the rule's feedback.
        moments: the optimizer's moments; empty when training is over.
        loss: the sum of the training losses in the unfinished epoch.
        noise: the random state of the rule's noise in the unfinished epoch.
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
        """The number of finished epochs, and the number of finished batches in the next epoch."""
        return self.epoch, self.step


class Recorder(Protocol):
    """Receives the metrics and states of a cohort: the store, or a list in memory."""

    def record_epoch(self, lines: Sequence[EpochMetrics]) -> None:
        """Write one line of metrics for each run."""
        ...

    def save(self, states: Sequence[RunState]) -> None:
        """Save one state for each run, all at the same step of training."""
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

    def __init__(self, cohort: Cohort, number: int, step: int = 0) -> None:
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
        """Return the state of every run; include the optimizer's moments if `with_moments`."""
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
    """Return each run's metrics; a run with an infinite or NaN loss or weight has diverged."""
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
    """Put saved states into a new cohort, and return the epoch to continue.

    Each epoch has `batches` batches.
    """
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
