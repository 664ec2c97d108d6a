"""The ladders of a study: the content of `ladder.json`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from depthgauge.config import SharedConfig
from depthgauge.errors import UserError
from depthgauge.results.rung import Rung
from depthgauge.store.files import read_json
from depthgauge.store.provenance import Provenance

LADDER_VERSION: Literal[2] = 2


class Ladder(BaseModel):
    """Accuracy over the number of trained blocks, rule by rule."""

    model_config = ConfigDict(frozen=True)

    schema_version: Literal[2] = LADDER_VERSION
    config: SharedConfig
    chance: float | None
    provenance: Provenance = {}
    rules: dict[str, tuple[Rung, ...]]
    """Rungs by label, k rising."""

    @model_validator(mode="before")
    @classmethod
    def _lift(cls, document: Any) -> Any:
        """Documents of the first version had every run as an object, by label, k and seed."""
        is_old = isinstance(document, Mapping) and document.get("schema_version") == 1
        return _lifted(document) if is_old else document

    @property
    def ks(self) -> list[int]:
        """Every k that some rule has."""
        return sorted({rung.k for rungs in self.rules.values() for rung in rungs})

    @property
    def seeds(self) -> list[int]:
        """Every seed of a run that is done."""
        every = (rung for rungs in self.rules.values() for rung in rungs)
        return sorted({seed for rung in every for seed in (*rung.accuracies, *rung.diverged)})


def _lifted(old: Mapping[str, Any]) -> dict[str, Any]:
    config = dict(old["config"])
    chance = config.pop("chance")
    return {
        "schema_version": LADDER_VERSION,
        "config": config,
        "chance": chance,
        "provenance": old.get("provenance", {}),
        "rules": {
            label: [_rung(int(k), runs) for k, runs in sorted(rungs.items(), key=_by_k)]
            for label, rungs in old["results"].items()
        },
    }


def _by_k(rung: tuple[str, Any]) -> int:
    return int(rung[0])


def _rung(k: int, runs: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    finished = {seed: run for seed, run in runs.items() if run["final_acc"] is not None}
    return {
        "k": k,
        "accuracies": {seed: run["final_acc"] for seed, run in finished.items()},
        "runs": {seed: str(run["run"]).removeprefix("runs/") for seed, run in finished.items()},
        "diverged": {
            seed: run.get("diverged_epoch") for seed, run in runs.items() if seed not in finished
        },
    }


def read_ladder(path: Path) -> Ladder:
    """Return the ladders in a `ladder.json`."""
    try:
        return Ladder.model_validate(read_json(path))
    except (ValidationError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{path} is not a ladder, or a part of it is missing") from error
