"""The difference between the configurations of two studies, and whether common runs agree."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import JsonValue

from depthgauge.results.run import RunResult
from depthgauge.results.study import StudyResult
from depthgauge.store.study_folder import differences

SECTIONS = ("task", "net", "recipe")
"""The sections of a configuration that rules must share to be comparable."""


@dataclass(frozen=True)
class OptionDifference:
    """An option by its dotted name, and its two values; None where the option is missing."""

    name: str
    first: JsonValue
    other: JsonValue


@dataclass(frozen=True)
class ConfigDifference:
    """The difference between two configurations.

    Attributes:
        differ_in: the options with different values.
        not_known: the sections that one of the configurations lacks.
    """

    differ_in: tuple[OptionDifference, ...] = ()
    not_known: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Return whether the configurations are known to be the same."""
        return not self.differ_in and not self.not_known


@dataclass(frozen=True)
class Agreement:
    """The number of runs of the same k and seed that are done in both studies.

    Attributes:
        common: all of them.
        same_accuracy: those with the same state and accuracy.
        same_epochs: those whose metrics are equal in every epoch too.
    """

    common: int
    same_accuracy: int
    same_epochs: int


def config_difference(
    first: StudyResult, other: StudyResult, rule: str | None = None
) -> ConfigDifference:
    """Return the difference between two studies, or between their runs of one rule."""
    ours, theirs = (_sections(study, rule) for study in (first, other))
    known = ours.keys() & theirs.keys()
    different = differences(
        {name: ours[name] for name in known}, {name: theirs[name] for name in known}
    )
    missing = sorted({*SECTIONS, *ours, *theirs} - known)
    differ_in = (OptionDifference(name, *values) for name, values in different.items())
    return ConfigDifference(tuple(differ_in), tuple(missing))


def _sections(study: StudyResult, rule: str | None) -> dict[str, JsonValue]:
    run = next((run for run in study.runs if run.label == rule), None)
    if run is None:
        return study.config.model_dump(mode="json", include={*SECTIONS}, exclude_none=True)
    return run.config.model_dump(mode="json", include={*SECTIONS, "rule"})


def agreement(first: StudyResult, other: StudyResult, rule: str) -> Agreement:
    """Count how many runs of a rule agree in two studies."""
    ours, theirs = (_done(study, rule) for study in (first, other))
    pairs = [(ours[place], theirs[place]) for place in sorted(ours.keys() & theirs.keys())]
    same = [(a, b) for a, b in pairs if (a.state, a.accuracy) == (b.state, b.accuracy)]
    return Agreement(
        len(pairs), len(same), sum(bool(a.epochs) and a.epochs == b.epochs for a, b in same)
    )


def _done(study: StudyResult, rule: str) -> dict[tuple[int, int], RunResult]:
    return {
        (run.config.k, run.config.seed): run
        for run in study.runs
        if run.label == rule and run.is_done
    }
