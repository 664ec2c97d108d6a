"""In what two studies differ, and how alike the results of their common runs are."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import JsonValue

from depthgauge.results.run import RunResult
from depthgauge.results.study import StudyResult
from depthgauge.store.study_folder import differences

SECTIONS = ("task", "net", "recipe")
"""Of a configuration: what rules must share to be compared with each other."""


@dataclass(frozen=True)
class OptionDifference:
    """Both values of one option, by its dotted name; None where there is no such option."""

    name: str
    first: JsonValue
    other: JsonValue


@dataclass(frozen=True)
class ConfigDifference:
    """In what two configurations differ.

    Attributes:
        differ_in: the options that have other values.
        not_known: the parts that one of them does not tell.
    """

    differ_in: tuple[OptionDifference, ...] = ()
    not_known: tuple[str, ...] = ()

    @property
    def is_none(self) -> bool:
        """Whether the configurations are known to be the same."""
        return not self.differ_in and not self.not_known


@dataclass(frozen=True)
class Agreement:
    """How many runs of the same k and seed are done in both, and how many of them agree."""

    common: int
    same_accuracy: int
    same_epochs: int


def config_difference(
    first: StudyResult, other: StudyResult, rule: str | None = None
) -> ConfigDifference:
    """Return in what two studies differ, or the runs of a rule in them."""
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
    """Return how alike the runs of a rule are in two studies."""
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
