"""Each rule's best setting, chosen on training samples that were held out for it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from depthgauge.store.study_folder import StudyFolder
from depthgauge.studies.plan import Grid
from depthgauge.studies.spread import mean_and_spread
from depthgauge.tasks.base import Task

SHARE = 0.1
"""Of the training samples, held out where the user does not say how many."""


def usual_size(task: Task) -> int:
    """How many training samples to choose on, where it was not said."""
    return max(1, round(SHARE * len(task.train)))


def candidates(study: StudyFolder, grid: Grid) -> dict[str, dict[str, Any]]:
    """Each setting's accuracy on the held-out samples with all blocks trained, over seeds."""
    found: dict[str, list[dict[str, Any]]] = {}
    for run in grid.runs():
        result = study.run(run.config).result
        if result is not None:
            entry = {"acc": result["final_acc"], "run": f"selection/runs/{run.config.identity}"}
            found.setdefault(run.choice.label, []).append(entry)
    return {label: _candidate(runs) for label, runs in found.items()}


def _candidate(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    finished = [run["acc"] for run in runs if run["acc"] is not None]
    return mean_and_spread(finished) | {
        "diverged": len(runs) - len(finished),
        "runs": [run["run"] for run in runs],
    }


def best(found: Mapping[str, dict[str, Any]]) -> str | None:
    """The label with the highest mean accuracy, None if there is none to choose from.

    A setting that diverged with any seed comes after those that did not.
    """

    def merit(label: str) -> tuple[bool, float]:
        entry = found[label]
        return not entry["diverged"], entry["mean"] if entry["mean"] is not None else -math.inf

    return max(found, key=merit, default=None)
