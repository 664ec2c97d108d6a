"""The depth-utility ladder: accuracy when only the last k blocks are trained, k = 0 … L."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from depthgauge.errors import UserError
from depthgauge.store.files import read_json
from depthgauge.store.provenance import command_line, environment
from depthgauge.store.run_folder import RunFolder
from depthgauge.store.study_folder import StudyFolder

Rungs = dict[str, dict[str, dict[str, dict[str, Any]]]]


def collect_ladder(
    study: StudyFolder, base: dict[str, Any], chance: float, rules: Sequence[str]
) -> dict[str, Any]:
    """Everything finished in the study's folder as one document: `ladder.json`.

    The labels in `rules` come first, in that order, then what earlier commands trained.

    `results[rule][k][seed]` has `final_acc` (null if the run diverged), `status` and the `run` it
    came from; `summary[rule][k]` has mean, sample standard deviation and n of the finished ones.
    """
    results = _results(study.all_runs(), rules)
    return {
        "config": base | {"chance": chance},
        "provenance": environment() | {"command": command_line()},
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
    if not (isinstance(ladder, dict) and {"config", "results", "summary"} <= ladder.keys()):
        raise UserError(f"{file} is not a ladder")
    return ladder


def _results(folders: Iterable[RunFolder], rules: Sequence[str]) -> Rungs:
    def place(folder: RunFolder) -> tuple[int, str, int, int]:
        config, label = folder.config, folder.config.rule.label
        rank = rules.index(label) if label in rules else len(rules)
        return rank, label, config.k, config.seed

    results: Rungs = {}
    for folder in sorted(folders, key=place):
        config, result = folder.config, folder.result
        if result is None:
            continue
        rungs = results.setdefault(config.rule.label, {})
        rungs.setdefault(str(config.k), {})[str(config.seed)] = {
            "final_acc": result["final_acc"],
            "status": result["status"],
            "diverged_epoch": result["diverged_epoch"],
            "h_norm": result["final"]["h_norm"],
            "g_norm": result["final"]["g_norm"],
            "run": f"runs/{config.identity}",
            "commit": result["provenance"]["commit"],
        }
    return results


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
    return {
        "mean": statistics.fmean(values) if values else None,
        "std": statistics.stdev(values) if len(values) > 1 else None,
        "n": len(values),
    }
