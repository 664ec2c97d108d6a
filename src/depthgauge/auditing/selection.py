"""The choice of each rule's best setting on held-out training samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from depthgauge.errors import OptionError
from depthgauge.results.audit_parts import Candidate, Selection
from depthgauge.results.run import RunResult
from depthgauge.results.spread import Spread
from depthgauge.results.study import StudyResult
from depthgauge.rules.choice import RuleChoice
from depthgauge.scheduling.grid import Grid
from depthgauge.scheduling.variations import Variations, settings_of
from depthgauge.study_config import StudyConfig
from depthgauge.tasks.base import Task, hold_out_validation

SHARE = 0.1
"""The share of training samples that is held out by default."""


def default_validation(task: Task) -> int:
    """Return the number of training samples that are held out by default."""
    return max(1, round(SHARE * len(task.train)))


def settings_to_try(rule: RuleChoice, variations: Variations) -> dict[str, RuleChoice]:
    """Return the settings to try for a rule, by label.

    The settings are the user's own, and every combination of the option values in `variations`.
    """
    return {choice.label: choice for choice in [rule, *settings_of(rule, variations)]}


def selection_grid(config: StudyConfig, rules: Sequence[RuleChoice], grid: Grid) -> Grid:
    """Return a plan that trains every setting of the rules and judges it on held-out samples.

    In every run, all blocks are trained. The seeds and all else are the same as in `grid`.
    """
    for rule in rules:
        if rule.control is not None:
            raise OptionError(
                "select",
                f"--select cannot choose a setting of {rule.text}; give its control with "
                "--controls instead",
            )
    settings = [
        choice for rule in rules for choice in settings_to_try(rule, config.variations).values()
    ]
    task = hold_out_validation(grid.task, config.validation or default_validation(grid.task))
    return replace(grid, task=task, rules=settings, ks=[grid.net.blocks])


def candidates(study: StudyResult, grid: Grid) -> dict[str, Candidate]:
    """Return each setting's accuracies on the held-out samples, by label."""
    labels = {run.identity: run.choice.label for run in grid.runs()}
    runs: dict[str, list[RunResult]] = {label: [] for label in labels.values()}
    for run in study.runs:
        if run.is_done and run.identity in labels:
            runs[labels[run.identity]].append(run)
    folder, seeds = study.folder.name, len(grid.seeds)
    return {label: _candidate(own, folder, seeds) for label, own in runs.items()}


def _candidate(runs: Sequence[RunResult], folder: str, seeds: int) -> Candidate:
    accuracy = Spread.of(run.accuracy for run in runs)
    return Candidate(
        accuracy=accuracy,
        lost=seeds - accuracy.n,
        runs=tuple(f"{folder}/runs/{run.identity}" for run in runs),
    )


def best_setting(candidates: Mapping[str, Candidate]) -> str | None:
    """Return the label with the highest mean accuracy; None if no candidate has an accuracy.

    A run that diverged or failed is lost. A setting with a lost run is chosen only if every setting
    has one.
    """
    scores = {
        label: (not candidate.lost, candidate.accuracy.mean)
        for label, candidate in candidates.items()
        if candidate.accuracy.mean is not None
    }
    return max(scores, key=lambda label: scores[label], default=None)


def choose_settings(
    candidates: Mapping[str, Candidate],
    rules: Sequence[RuleChoice],
    variations: Variations,
    samples: int,
) -> tuple[dict[str, Selection], list[RuleChoice]]:
    """Choose a setting for each rule; return the choices by label, and the settings to audit.

    Each rule is audited at the chosen setting and at the user's own setting, so that the report can
    say whether both settings have the same verdict.
    """
    selections, audited = {}, []
    for rule in rules:
        settings = settings_to_try(rule, variations)
        tried = {label: candidates[label] for label in settings if label in candidates}
        label = best_setting(tried)
        selections[rule.label] = Selection(chosen=label, candidates=tried, samples=samples)
        audited += [rule] if label in (rule.label, None) else [rule, settings[label]]
    return selections, audited
