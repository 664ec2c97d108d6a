"""The ladders of a study, rung by rung: statistics, and the content of `ladder.json`."""

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
from depthgauge.verdict.ladder_scores import blocks_added

LADDER_VERSION: Literal[2] = 2

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

    @property
    def ends(self) -> tuple[float, float] | None:
        """The ends of the interval as they are shown; None where it says nothing, or is none."""
        found = self.interval
        if found is None or found.is_wider_than(WIDEST_SHARE):
            return None
        return found.low, found.high


def rungs_of(runs: Sequence[RunResult]) -> tuple[Rung, ...]:
    """Return the ladder of a rule's runs, k rising."""
    return _by_k([run for run in runs if run.config.is_rung])


def swap_twins_of(runs: Sequence[RunResult]) -> tuple[Rung, ...]:
    """Return the swap twins of a rule's rungs, k rising: what each adds is trained on noise."""
    if not runs:
        return ()
    ks = {run.config.k for run in runs if run.config.is_rung}
    added = blocks_added(ks, runs[0].config.net.blocks)
    return _by_k([run for k, blocks in added.items() for run in twins_of(runs, k, blocks)])


def twins_of(runs: Sequence[RunResult], k: int, blocks: Sequence[int]) -> list[RunResult]:
    """Return the swap twins of rung k, which adds these blocks."""
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
    """Accuracy over the number of trained blocks, rule by rule."""

    model_config = ConfigDict(frozen=True)

    schema_version: Literal[2] = LADDER_VERSION
    config: SharedConfig
    chance: float | None
    provenance: Provenance = {}
    rules: dict[str, tuple[Rung, ...]]
    """Rungs by label, k rising."""
    twins: dict[str, tuple[Rung, ...]] = {}
    """Swap twins of the rungs that have one, by label: what the rung adds is trained on noise."""
    used_depth: dict[str, UsedDepth] = {}
    """How many blocks earn accuracy, by label, where there is a ladder."""
    floors: Floors | None = None
    """What needs no depth; None where it was not asked for."""

    @model_validator(mode="wrap")
    @classmethod
    def _lift(cls, document: Any, validate: ModelWrapValidatorHandler[Ladder]) -> Ladder:
        """Documents of the first version had every run as an object, by label, k and seed."""
        is_old = isinstance(document, Mapping) and document.get("schema_version") == 1
        return _lifted(document) if is_old else validate(document)

    @property
    def ks(self) -> list[int]:
        """Every k that some rule has."""
        return sorted({rung.k for rungs in self.rules.values() for rung in rungs})

    @property
    def seeds(self) -> list[int]:
        """Every seed of a run that is done."""
        every = (rung for rungs in self.rules.values() for rung in rungs)
        return sorted({seed for rung in every for seed in (*rung.accuracies, *rung.diverged)})


def _lifted(old: Mapping[str, Any]) -> Ladder:
    return Ladder(
        config=SharedConfig.model_validate(old["config"]),
        chance=old["config"]["chance"],
        provenance=old.get("provenance", {}),
        rules={
            label: tuple(_lifted_rung(int(k), runs) for k, runs in sorted(rungs.items(), key=_k_of))
            for label, rungs in old["results"].items()
        },
    )


def _k_of(rung: tuple[str, Any]) -> int:
    return int(rung[0])


def _lifted_rung(k: int, by_seed: Mapping[str, Mapping[str, Any]]) -> Rung:
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
        raise UserError(f"{path} is not a ladder, or a part of it is missing") from error
