"""The training loop of a cohort: epochs, readings, checkpoints, divergence."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from torch import Tensor

from depthgauge.nets.stacked import StackedResidualMLP
from depthgauge.tasks.base import Split, Task
from depthgauge.tasks.inputs import evaluation_inputs
from depthgauge.training.batches import Batches
from depthgauge.training.cohort import Cohort

Observer = Callable[[StackedResidualMLP, Split], Sequence[dict[str, Any]]]
"""Reads something off every run after each epoch: one dictionary for each run."""


@dataclass(frozen=True)
class RunState:
    """Everything needed to go on with a run after `epoch` epochs.

    There is no random state besides the epoch: every epoch's random streams are functions of the
    seed and its number (see `depthgauge.training.streams`).
    """

    epoch: int
    parameters: dict[str, Tensor]
    feedback: dict[str, Tensor]
    moments: dict[str, Tensor] = field(default_factory=dict)


class Recorder(Protocol):
    """Where a cohort's training goes: the store, or a list in memory."""

    def record_epoch(self, lines: Sequence[dict[str, Any]]) -> None:
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
) -> None:
    """Train to the last epoch, from the beginning or from `start`.

    Metrics are recorded for epoch 0 (before training) and after each epoch. States are saved
    every `save_every` seconds, at the next end of an epoch, and after the last one.
    """
    recipe = cohort.recipe
    batches = Batches(
        task, cohort.seeds, recipe.batch_size, cohort.dtype, cohort.device, targets=recipe.targets
    )
    split = evaluation_inputs(task, cohort.dtype, cohort.device)
    done = 0
    if start is not None:
        done = restore(cohort, start, len(batches))
    else:
        recorder.record_epoch(_lines(cohort, split, observers, 0, None))
    saved_at = time.monotonic()
    for epoch in range(done, recipe.epochs):
        losses = _train_epoch(cohort, batches, epoch, on_step)
        recorder.record_epoch(_lines(cohort, split, observers, epoch + 1, losses))
        last = epoch + 1 == recipe.epochs
        if last or time.monotonic() - saved_at >= save_every:
            recorder.save(run_states(cohort, epoch + 1, with_moments=not last))
            saved_at = time.monotonic()


def _train_epoch(
    cohort: Cohort, batches: Batches, epoch: int, on_step: Callable[[int], None]
) -> list[float]:
    """Train one epoch; returns each run's mean training loss over its samples."""
    cohort.start_epoch(epoch)
    total = torch.zeros(len(cohort.configs), dtype=torch.float64, device=cohort.device)
    for number, batch in enumerate(batches.epoch(epoch)):
        progress = (epoch + number / len(batches)) / cohort.recipe.epochs
        total += cohort.step(batch, progress).double() * batch.labels.shape[1]
        on_step(1)
    return [float(value) for value in (total / len(batches.task.train)).tolist()]


def _lines(
    cohort: Cohort,
    split: Split,
    observers: Sequence[Observer],
    epoch: int,
    losses: Sequence[float] | None,
) -> list[dict[str, Any]]:
    """Each run's metrics; a run whose loss or weights are not finite is marked as diverged."""
    readings = [observer(cohort.net, split) for observer in observers]
    lines = []
    for run in range(len(cohort.configs)):
        line: dict[str, Any] = {"epoch": epoch, "train_loss": losses[run] if losses else None}
        for reading in readings:
            line |= reading[run]
        finite = losses is None or math.isfinite(losses[run])
        state = cohort.net.state_of_run(run)
        finite = finite and all(bool(p.isfinite().all()) for p in state.values())
        line["diverged"] = not finite
        lines.append(line)
    return lines


def run_states(cohort: Cohort, epoch: int, with_moments: bool) -> list[RunState]:
    """The state of every run; moments are needed only where training goes on."""
    return [
        RunState(
            epoch,
            cohort.net.state_of_run(run),
            feedback,
            cohort.optimizer.moments_of_run(run) if with_moments else {},
        )
        for run, feedback in enumerate(cohort.feedback)
    ]


@torch.no_grad()
def restore(cohort: Cohort, states: Sequence[RunState], steps_per_epoch: int) -> int:
    """Put saved states back into a fresh cohort; returns how many epochs they have behind them."""
    epoch, feedback = states[0].epoch, cohort.feedback
    for run, state in enumerate(states):
        for name, parameter in cohort.net.state_of_run(run).items():
            parameter.copy_(state.parameters[name])
        for name, tensor in feedback[run].items():
            tensor.copy_(state.feedback[name])
    if epoch < cohort.recipe.epochs:
        cohort.optimizer.restore([state.moments for state in states], epoch * steps_per_epoch)
    return epoch
