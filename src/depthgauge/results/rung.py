"""Accuracy at one rung of a ladder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from pydantic import BaseModel, ConfigDict, NonNegativeInt, computed_field

from depthgauge.diagnostics.intervals import Interval, interval
from depthgauge.results.run import RunResult
from depthgauge.results.spread import Spread

ERROR_RATE = 0.05


class Rung(BaseModel):
    """Accuracy with the last k blocks trained, over seeds."""

    model_config = ConfigDict(frozen=True)

    k: NonNegativeInt
    """How many blocks are trained."""
    accuracies: dict[int, float]
    """By seed, of the runs that finished."""
    runs: dict[int, str] = {}
    """Identities of those runs, by seed."""
    diverged: dict[int, int | None] = {}
    """The epoch in which a run diverged, by seed."""
    failed: int = 0
    """How many runs raised an error."""
    blocks: int | None = None
    """Of the network, where that is known."""

    @cached_property
    def spread(self) -> Spread:
        """Mean and sample standard deviation over seeds."""
        return Spread.of(self.accuracies.values())

    @computed_field  # type: ignore[prop-decorator]
    @property
    def mean(self) -> float | None:
        """Mean accuracy over seeds."""
        return self.spread.mean

    @computed_field  # type: ignore[prop-decorator]
    @property
    def std(self) -> float | None:
        """Sample standard deviation over seeds."""
        return self.spread.std

    @property
    def lost(self) -> int:
        """How many runs diverged or failed."""
        return len(self.diverged) + self.failed

    @cached_property
    def interval(self) -> Interval | None:
        """95 % interval of the mean (Student's t); None for fewer than two seeds."""
        values = list(self.accuracies.values())
        return interval(values, ERROR_RATE) if len(values) > 1 else None


def rungs_of(runs: Sequence[RunResult]) -> tuple[Rung, ...]:
    """Return the ladder of a rule's runs, k rising."""
    ks = sorted({run.config.k for run in runs})
    return tuple(_rung(k, [run for run in runs if run.config.k == k]) for k in ks)


def _rung(k: int, runs: Sequence[RunResult]) -> Rung:
    finished = [run for run in runs if run.accuracy is not None]
    return Rung(
        k=k,
        accuracies={run.config.seed: run.accuracy for run in finished if run.accuracy is not None},
        runs={run.config.seed: run.identity for run in finished},
        diverged={run.config.seed: run.diverged_epoch for run in runs if run.state == "diverged"},
        failed=sum(run.state == "failed" for run in runs),
        blocks=runs[0].config.net.blocks,
    )
