"""The depth-utility ladder: accuracy when only the last k blocks are trained, k = 0 … L."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from typing import Any

from depthgauge.store.run_folder import RunFolder
from depthgauge.store.study_folder import StudyFolder

Rungs = dict[str, dict[str, dict[str, dict[str, Any]]]]


def collect_ladder(study: StudyFolder, base: dict[str, Any], chance: float) -> dict[str, Any]:
    """Everything finished in the study's folder as one document: `ladder.json`.

    `results[rule][k][seed]` has `final_acc` (null if the run diverged), `status` and the `run` it
    came from; `summary[rule][k]` has mean, sample standard deviation and n of the finished ones.
    """
    results = _results(study.all_runs())
    return {
        "config": base | {"chance": chance},
        "results": results,
        "summary": {
            rule: {k: summarise(seeds.values()) for k, seeds in rungs.items()}
            for rule, rungs in results.items()
        },
    }


def _results(folders: Iterable[RunFolder]) -> Rungs:
    done = [(folder.config, folder.result) for folder in folders]
    results: Rungs = {}
    for config, result in sorted(
        done, key=lambda pair: (pair[0].rule.label, pair[0].k, pair[0].seed)
    ):
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
        }
    return results


def summarise(runs: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Mean, sample standard deviation (ddof 1; null for one run) and n over finished runs."""
    values = [run["final_acc"] for run in runs if run["final_acc"] is not None]
    return {
        "mean": statistics.fmean(values) if values else None,
        "std": statistics.stdev(values) if len(values) > 1 else None,
        "n": len(values),
    }
