"""Whether two studies trained the same runs, in what they differ, and how alike the results are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from depthgauge.store.study_folder import differences
from depthgauge.studies.gathered import Gathered, GatheredRun

SECTIONS = ("task", "net", "recipe")
"""Of a configuration: what rules must share to be compared with each other."""


@dataclass(frozen=True)
class Settings:
    """In what two configurations differ.

    Attributes:
        differ_in: both values by dotted name.
        not_known: the parts that one of them does not tell.
    """

    differ_in: dict[str, tuple[Any, Any]]
    not_known: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether they are known to be the same."""
        return not self.differ_in and not self.not_known

    def as_dict(self) -> dict[str, Any]:
        """For a JSON document."""
        return {
            "differ_in": [
                {"name": name, "first": first, "other": other}
                for name, (first, other) in self.differ_in.items()
            ],
            "not_known": list(self.not_known),
        }


@dataclass(frozen=True)
class Agreement:
    """How many runs of the same k and seed are done in both, and how many of them agree."""

    common: int
    same_accuracy: int
    same_record: int


def same_settings(first: Gathered, other: Gathered, rule: str | None = None) -> Settings:
    """In what two studies differ, or the runs of a rule in them."""
    ours, theirs = (_sections(study, rule) for study in (first, other))
    known = ours.keys() & theirs.keys()
    different = differences(
        {name: ours[name] for name in known}, {name: theirs[name] for name in known}
    )
    missing = sorted({*SECTIONS, *ours, *theirs} - known)
    return Settings(different, tuple(missing))


def _sections(study: Gathered, rule: str | None) -> dict[str, Any]:
    run = next((run for run in study.runs if run.method == rule), None)
    if run is None:
        return {name: study.base[name] for name in SECTIONS if name in study.base}
    return run.config.model_dump(mode="json", include={*SECTIONS, "rule"})


def agreement(first: Gathered, other: Gathered, rule: str) -> Agreement:
    """Of the runs of a rule."""
    ours, theirs = (_done(study, rule) for study in (first, other))
    pairs = [(ours[place], theirs[place]) for place in sorted(ours.keys() & theirs.keys())]
    same = [(a, b) for a, b in pairs if (a.state, a.accuracy) == (b.state, b.accuracy)]
    return Agreement(
        len(pairs), len(same), sum(bool(a.lines) and a.lines == b.lines for a, b in same)
    )


def _done(study: Gathered, rule: str) -> dict[tuple[int, int], GatheredRun]:
    return {
        (run.config.k, run.config.seed): run
        for run in study.runs
        if run.method == rule and run.done
    }
