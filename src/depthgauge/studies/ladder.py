"""The depth-utility ladder: accuracy when only the last k blocks are trained, k = 0 … L."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, NonNegativeInt, ValidationError

from depthgauge.config import SCHEMA_VERSION, NetConfig, RuleConfig
from depthgauge.errors import UserError
from depthgauge.store.files import read_json
from depthgauge.store.provenance import command_line
from depthgauge.store.run_folder import RunFolder
from depthgauge.store.study_folder import StudyFolder
from depthgauge.studies.spread import mean_and_spread

Rungs = dict[str, dict[str, dict[str, dict[str, Any]]]]

HASH_DIGITS = 7


def collect_ladder(
    study: StudyFolder,
    base: dict[str, Any],
    chance: float,
    rules: Sequence[RuleConfig],
    provenance: dict[str, Any],
) -> dict[str, Any]:
    """Everything finished in the study's folder as one document: `ladder.json`.

    The `rules` come first, in that order, then what earlier commands trained. Where a user's rule
    was edited in between, its older version is called `label@` and the start of its file's hash.

    `results[rule][k][seed]` has `final_acc` (null if the run diverged), `status` and the `run` it
    came from; `summary[rule][k]` has mean, sample standard deviation and n of the finished ones.
    """
    results = _results(study.all_runs(), rules)
    return {
        "schema_version": SCHEMA_VERSION,
        "config": base | {"chance": chance},
        "provenance": provenance | {"command": command_line()},
        "results": results,
        "summary": {
            rule: {k: summarise(seeds.values()) for k, seeds in rungs.items()}
            for rule, rungs in results.items()
        },
    }


def read_ladder(path: Path) -> dict[str, Any]:
    """A `ladder.json`, or the one in a study's folder."""
    file = path / "ladder.json" if path.is_dir() else path
    if not file.is_file():
        raise UserError(f"there is no ladder in {path}; give a study's folder or its ladder.json")
    ladder = read_json(file)
    try:
        _LadderFile.model_validate(ladder)
    except ValidationError as error:
        raise UserError(f"{file} is not a ladder, or a part of it is missing") from error
    return dict(ladder)


class _Rung(BaseModel):
    mean: float | None
    std: float | None


class _Task(BaseModel):
    name: str


class _Config(BaseModel):
    task: _Task
    net: NetConfig
    chance: float


class _LadderFile(BaseModel):
    """What a figure needs of a ladder."""

    config: _Config
    summary: dict[str, dict[NonNegativeInt, _Rung]]


def _results(folders: Iterable[RunFolder], rules: Sequence[RuleConfig]) -> Rungs:
    started = sorted(folders, key=lambda f: (f.config.rule.label, f.config.k, f.config.seed))
    names = rule_names([*rules, *(folder.config.rule for folder in started)])
    results: Rungs = {name: {} for name in names.values()}
    for folder in started:
        config, result = folder.config, folder.result
        if result is None:
            continue
        rungs = results[names[config.rule.as_text]]
        rungs.setdefault(str(config.k), {})[str(config.seed)] = {
            "final_acc": result["final_acc"],
            "status": result["status"],
            "diverged_epoch": result["diverged_epoch"],
            "h_norm": result["final"]["h_norm"],
            "g_norm": result["final"]["g_norm"],
            "run": f"runs/{config.identity}",
            "commit": result["provenance"]["commit"],
        }
    return {name: rungs for name, rungs in results.items() if rungs}


def rule_names(rules: Iterable[RuleConfig]) -> dict[str, str]:
    """How tables call each rule, by its configuration as text.

    By its label, the first one that has it; others that share it, by the start of a hash too: of
    their source, or of all their options where that is not enough.
    """
    names: dict[str, str] = {}
    for rule in rules:
        if rule.as_text not in names:
            whole = hashlib.sha256(rule.as_text.encode()).hexdigest()
            hashes = [each[:HASH_DIGITS] for each in (rule.source, whole) if each]
            possible = [rule.label, *(f"{rule.label}@{each}" for each in hashes)]
            names[rule.as_text] = next(name for name in possible if name not in names.values())
    return names


def has_diverged(ladder: dict[str, Any]) -> bool:
    """Whether any run of the ladder has."""
    return any(
        run["status"] == "diverged"
        for rungs in ladder["results"].values()
        for runs in rungs.values()
        for run in runs.values()
    )


def summarise(runs: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Mean, sample standard deviation (ddof 1; null for one run) and n over finished runs."""
    values = [run["final_acc"] for run in runs if run["final_acc"] is not None]
    return mean_and_spread(values)
