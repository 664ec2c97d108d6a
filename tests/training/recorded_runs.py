"""Train cohorts with a recorder in memory, and compare what it recorded exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from training.small_runs import Setting

from depthgauge.config import Recipe
from depthgauge.training.loop import train_cohort
from depthgauge.training.readings import EVERY_EPOCH
from depthgauge.training.stacked_mlp.cohort import Cohort
from depthgauge.training.trainee import RunState

EPOCHS = 4
RECIPE = Recipe(epochs=EPOCHS, batch_size=16, learning_rate=5e-3, dtype="float32")
SETTING = Setting(recipe=RECIPE)
STEPS_PER_EPOCH = 5  # 72 samples in batches of 16


class InMemory:
    """A recorder that keeps everything; it copies states, which are views of living parameters."""

    def __init__(self) -> None:
        self.lines: list[list[dict[str, Any]]] = []
        self.states: list[list[RunState]] = []

    def record_epoch(self, lines: Sequence[dict[str, Any]]) -> None:
        self.lines.append(list(lines))

    def save(self, states: Sequence[RunState]) -> None:
        self.states.append([copied(state) for state in states])

    def of_run(self, run: int) -> list[dict[str, Any]]:
        return [lines[run] for lines in self.lines]

    def at(self, epoch: int, step: int = 0) -> list[RunState]:
        """Return the states of all runs that were saved at this position."""
        (found,) = (states for states in self.states if states[0].position == (epoch, step))
        return found


def copied(state: RunState) -> RunState:
    parts = {
        part: {name: tensor.clone() for name, tensor in getattr(state, part).items()}
        for part in ("parameters", "feedback", "moments")
    }
    return replace(state, **parts)


def train(
    cohort: Cohort, setting: Setting = SETTING, recorder: InMemory | None = None, **options: Any
) -> InMemory:
    """Train to the end; save only the last states unless `options` say otherwise."""
    kept = InMemory() if recorder is None else recorder
    given = {"save_every": 1e9, "observers": EVERY_EPOCH, **options}
    train_cohort(cohort, setting.task, kept, **given)
    return kept


def parameters(cohort: Cohort, run: int) -> dict[str, bytes]:
    return {n: p.numpy().tobytes() for n, p in cohort.net.state_of_run(run).items()}


def exact(lines: Any) -> str:
    """Return lines as text, so that NaN equals NaN and every digit counts."""
    return repr(lines)
