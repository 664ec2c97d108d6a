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
    """An option that differs: its dotted name, and both values; a missing option has None."""

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
    """How many runs of a rule agree in two studies, paired by k and seed.

    Attributes:
        common: the number of pairs in which both runs are done.
        same_accuracy: the number of these pairs with the same state and accuracy.
        same_epochs: the number of these pairs whose metrics are also equal in every epoch.
    """

    common: int
    same_accuracy: int
    same_epochs: int


def config_difference(
    first: StudyResult, other: StudyResult, rule: str | None = None
) -> ConfigDifference:
    """Return the difference between the configurations of two studies.

    With a `rule`, compare the configurations of its runs.
    """
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
