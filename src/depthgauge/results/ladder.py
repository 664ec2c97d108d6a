"""The ladders of a study: rungs, their statistics, and the content of `ladder.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    ModelWrapValidatorHandler,
    NonNegativeInt,
    ValidationError,
    computed_field,
    model_validator,
)

from depthgauge.config import Intervention, SharedConfig
from depthgauge.diagnostics.intervals import WIDEST_SHARE, Interval, interval
from depthgauge.diagnostics.used_depth import UsedDepth
from depthgauge.errors import UserError
from depthgauge.results.floors import Floors
from depthgauge.results.run import RunResult
from depthgauge.results.spread import Spread
from depthgauge.store.files import read_json
from depthgauge.store.provenance import Provenance
from depthgauge.verdict.rung_comparisons import blocks_added

LADDER_VERSION: Literal[2] = 2

ERROR_RATE = 0.05


class Rung(BaseModel):
    """One rung of a ladder: the accuracies with the last k blocks trained, over seeds."""

    model_config = ConfigDict(frozen=True)

    k: NonNegativeInt
    """The number of trained blocks."""
    accuracies: dict[int, float]
    """The accuracies of the finished runs, by seed."""
    runs: dict[int, str] = {}
    """The ids of the finished runs, by seed."""
    diverged: dict[int, int | None] = {}
    """The epoch in which a run diverged, by seed."""
    failed: int = 0
    """The number of failed runs."""
    blocks: int | None = None
    """The number of blocks of the network; None if it is not known."""

    @cached_property
    def spread(self) -> Spread:
        """Return mean and sample standard deviation over seeds."""
        return Spread.of(self.accuracies.values())

    @computed_field  # type: ignore[prop-decorator]
    @property
    def mean(self) -> float | None:
        """Return the mean accuracy over seeds."""
        return self.spread.mean

    @computed_field  # type: ignore[prop-decorator]
    @property
    def std(self) -> float | None:
        """Return the sample standard deviation over seeds."""
        return self.spread.std

    @property
    def lost(self) -> int:
        """Return the number of runs that diverged or failed."""
        return len(self.diverged) + self.failed

    @cached_property
    def interval(self) -> Interval | None:
        """Return the 95 % interval of the mean (Student's t); None with fewer than two seeds."""
        values = list(self.accuracies.values())
        return interval(values, ERROR_RATE) if len(values) > 1 else None

    @property
    def ends(self) -> tuple[float, float] | None:
        """Return the ends of `interval` for charts; None if the interval is missing or too wide."""
        interval = self.interval
        if interval is None or interval.is_wider_than(WIDEST_SHARE):
            return None
        return interval.low, interval.high


def rungs_of(runs: Sequence[RunResult]) -> tuple[Rung, ...]:
    """Return the rungs of a rule's ladder from the rule's runs, fewest trained blocks first."""
    return _by_k([run for run in runs if run.config.is_rung])


def swap_twins_of(runs: Sequence[RunResult]) -> tuple[Rung, ...]:
    """Return the swap twins of a rule's rungs, fewest trained blocks first.

    A swap twin repeats a rung, but trains the blocks that the rung adds on noise.
    """
    if not runs:
        return ()
    ks = {run.config.k for run in runs if run.config.is_rung}
    added = blocks_added(ks, runs[0].config.net.blocks)
    return _by_k([run for k, blocks in added.items() for run in twins_of(runs, k, blocks)])


def twins_of(runs: Sequence[RunResult], k: int, blocks: Sequence[int]) -> list[RunResult]:
    """Return the runs of the swap twin of rung `k`; `blocks` are the blocks that the rung adds."""
    twin = Intervention(swapped=tuple(blocks))
    return [run for run in runs if run.config.k == k and run.config.intervention == twin]


def _by_k(runs: Sequence[RunResult]) -> tuple[Rung, ...]:
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


class Ladder(BaseModel):
    """The content of `ladder.json`: accuracy over the number of trained blocks, by rule."""

    model_config = ConfigDict(frozen=True)

    schema_version: Literal[2] = LADDER_VERSION
    config: SharedConfig
    chance: float | None
    provenance: Provenance = {}
    rules: dict[str, tuple[Rung, ...]]
    """The rungs by label, k rising."""
    twins: dict[str, tuple[Rung, ...]] = {}
    """The swap twins of rungs by label, k rising."""
    used_depth: dict[str, UsedDepth] = {}
    """The used depth by label, for each rule with a ladder."""
    floors: Floors | None = None
    """The accuracies that need no depth; None if the command did not ask for them."""

    @model_validator(mode="wrap")
    @classmethod
    def _lift(cls, document: Any, validate: ModelWrapValidatorHandler[Ladder]) -> Ladder:
        """Accept documents of version 1, which store each run by label, k and seed."""
        is_old = isinstance(document, Mapping) and document.get("schema_version") == 1
        return _lift_version_1(document) if is_old else validate(document)

    @property
    def ks(self) -> list[int]:
        """Return every number of trained blocks, k, in the ladders, in rising order."""
        return sorted({rung.k for rungs in self.rules.values() for rung in rungs})

    @property
    def seeds(self) -> list[int]:
        """Return every seed with a finished or diverged run."""
        all_rungs = (rung for rungs in self.rules.values() for rung in rungs)
        return sorted({seed for rung in all_rungs for seed in (*rung.accuracies, *rung.diverged)})


def _lift_version_1(old: Mapping[str, Any]) -> Ladder:
    return Ladder(
        config=SharedConfig.model_validate(old["config"]),
        chance=old["config"]["chance"],
        provenance=old.get("provenance", {}),
        rules={
            label: tuple(_lift_rung(k, rungs[str(k)]) for k in sorted(map(int, rungs)))
            for label, rungs in old["results"].items()
        },
    )


def _lift_rung(k: int, by_seed: Mapping[str, Mapping[str, Any]]) -> Rung:
    runs = {int(seed): run for seed, run in by_seed.items()}
    finished = {seed: run for seed, run in runs.items() if run["final_acc"] is not None}
    return Rung(
        k=k,
        accuracies={seed: run["final_acc"] for seed, run in finished.items()},
        runs={seed: str(run["run"]).removeprefix("runs/") for seed, run in finished.items()},
        diverged={
            seed: run.get("diverged_epoch") for seed, run in runs.items() if seed not in finished
        },
    )


def read_ladder(path: Path) -> Ladder:
    """Return the ladders in a `ladder.json`."""
    try:
        return Ladder.model_validate(read_json(path))
    except (ValidationError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(
            f"{path} is not a ladder, or a part of it is missing; run the ladder again"
        ) from error
