"""Each rule's best setting, chosen on training samples that were held out for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from depthgauge.rules.choice import choose_rule
from depthgauge.scheduling.plan import Grid
from depthgauge.store.study_folder import StudyFolder
from depthgauge.studies.spread import mean_and_spread
from depthgauge.studies.vary import settings_of
from depthgauge.tasks.base import Task

SHARE = 0.1
"""Of the training samples, held out where the user does not say how many."""


def usual_size(task: Task) -> int:
    """How many training samples to choose on, where it was not said."""
    return max(1, round(SHARE * len(task.train)))


def settings_to_try(rule: str, variations: Sequence[str]) -> dict[str, str]:
    """Text by label: the rule as it was given, and at every combination of the variations."""
    texts = [rule, *settings_of(rule, variations)]
    return {choose_rule(text).label: text for text in texts}


def candidates(study: StudyFolder, grid: Grid) -> dict[str, dict[str, Any]]:
    """Each setting's accuracy on the held-out samples with all blocks trained, over seeds."""
    found: dict[str, list[dict[str, Any]]] = {}
    for run in grid.runs():
        result = study.run(run.config).result
        if result is not None:
            place = f"{study.path.name}/runs/{run.config.identity}"
            entry = {"acc": result["final_acc"], "run": place}
            found.setdefault(run.choice.label, []).append(entry)
    return {label: _candidate(runs, len(grid.seeds)) for label, runs in found.items()}


def _candidate(runs: Sequence[dict[str, Any]], seeds: int) -> dict[str, Any]:
    finished = [run["acc"] for run in runs if run["acc"] is not None]
    return mean_and_spread(finished) | {
        "lost": seeds - len(finished),
        "runs": [run["run"] for run in runs],
    }


def best(found: Mapping[str, dict[str, Any]]) -> str | None:
    """The label with the highest mean accuracy, None where nothing was trained to its end.

    A setting that diverged or failed with any seed comes after those that did not.
    """
    trained = [label for label, entry in found.items() if entry["mean"] is not None]
    return max(trained, key=lambda n: (not found[n]["lost"], found[n]["mean"]), default=None)


def chosen_settings(
    found: Mapping[str, dict[str, Any]], rules: Sequence[str], variations: Sequence[str]
) -> tuple[dict[str, Any], list[str]]:
    """For each rule how its setting was chosen, and the texts of what is to be audited.

    Each rule is audited as it was given too, so that it can be said whether its verdict survives.
    """
    chosen, texts = {}, []
    for rule in rules:
        settings = settings_to_try(rule, variations)
        tries = {label: found[label] for label in settings if label in found}
        given, label = choose_rule(rule).label, best(tries)
        chosen[given] = {"chosen": label, "candidates": tries}
        texts += [rule] if label in (given, None) else [rule, settings[label]]
    return chosen, texts
