"""Each rule's best setting, chosen on training samples that were held out for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from depthgauge.errors import OptionError
from depthgauge.results.audit_parts import Candidate, Selection
from depthgauge.results.spread import Spread
from depthgauge.results.study import StudyResult
from depthgauge.rules.choice import RuleChoice
from depthgauge.scheduling.grid import Grid
from depthgauge.scheduling.variations import Variations, settings_of
from depthgauge.study_config import StudyConfig
from depthgauge.tasks.base import Task, hold_out_validation

SHARE = 0.1
"""Of the training samples, held out where the user does not say how many."""


def usual_size(task: Task) -> int:
    """Return how many training samples to choose on, where it was not said."""
    return max(1, round(SHARE * len(task.train)))


def settings_to_try(rule: RuleChoice, variations: Variations) -> dict[str, RuleChoice]:
    """Return settings by label: the rule as it was given, and at every combination of values."""
    return {choice.label: choice for choice in [rule, *settings_of(rule, variations)]}


def selection_grid(config: StudyConfig, rules: Sequence[RuleChoice], grid: Grid) -> Grid:
    """Return every setting, all blocks trained, judged on held-out training samples."""
    for rule in rules:
        if rule.control is not None:
            raise OptionError(
                "select",
                f"--select cannot choose for {rule.text}: give its control with --controls",
            )
    settings = [
        choice for rule in rules for choice in settings_to_try(rule, config.variations).values()
    ]
    task = hold_out_validation(grid.task, config.validation or usual_size(grid.task))
    return replace(grid, task=task, rules=settings, ks=[grid.net.blocks])


def candidates(study: StudyResult, grid: Grid) -> dict[str, Candidate]:
    """Return each setting's accuracy on the held-out samples with all blocks trained."""
    wanted = {run.identity: run.choice.label for run in grid.runs()}
    found: dict[str, list[tuple[float | None, str]]] = {label: [] for label in wanted.values()}
    for run in study.runs:
        if run.is_done and run.identity in wanted:
            place = f"{study.folder.name}/runs/{run.identity}"
            found[wanted[run.identity]].append((run.accuracy, place))
    return {label: _candidate(runs, len(grid.seeds)) for label, runs in found.items()}


def _candidate(runs: Sequence[tuple[float | None, str]], seeds: int) -> Candidate:
    accuracy = Spread.of(reached for reached, _ in runs)
    return Candidate(
        accuracy=accuracy, lost=seeds - accuracy.n, runs=tuple(place for _, place in runs)
    )


def best(found: Mapping[str, Candidate]) -> str | None:
    """Return the label with the highest mean accuracy, None where nothing was trained to its end.

    A setting that diverged or failed with any seed comes after those that did not.
    """
    known = {
        label: (not entry.lost, entry.accuracy.mean)
        for label, entry in found.items()
        if entry.accuracy.mean is not None
    }
    return max(known, key=lambda label: known[label], default=None)


def chosen_settings(
    found: Mapping[str, Candidate],
    rules: Sequence[RuleChoice],
    variations: Variations,
    samples: int,
) -> tuple[dict[str, Selection], list[RuleChoice]]:
    """Return for each rule how its setting was chosen, and what is to be audited.

    Each rule is audited as it was given too, so that it can be said whether its verdict survives.
    """
    chosen, audited = {}, []
    for rule in rules:
        settings = settings_to_try(rule, variations)
        tries = {label: found[label] for label in settings if label in found}
        label = best(tries)
        chosen[rule.label] = Selection(chosen=label, candidates=tries, samples=samples)
        audited += [rule] if label in (rule.label, None) else [rule, settings[label]]
    return chosen, audited
