"""Several studies side by side: every rule, the same rule in several, each rule against one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from depthgauge.config import SCHEMA_VERSION
from depthgauge.errors import UserError
from depthgauge.studies.gathered import Gathered, gather
from depthgauge.studies.measured_rule import QUANTITIES, MeasuredRule, measured_rule, paired_rules
from depthgauge.studies.paired import ERROR_RATE, Difference
from depthgauge.studies.rule_views import rule_views
from depthgauge.studies.same_runs import Agreement, Settings, agreement, same_settings
from depthgauge.studies.study_names import distinct_names

USUAL_REFERENCE = "bp"
ORIGIN = ("version", "commit", "python", "torch", "processor", "gpu", "device", "threads")
"""What of its provenance tells where a result comes from."""


@dataclass(frozen=True)
class ComparedStudy:
    """A study with the name it goes by here, and its rules by theirs."""

    name: str
    path: Path
    study: Gathered
    rules: dict[str, MeasuredRule]

    @property
    def provenance(self) -> dict[str, list[Any]]:
        """Which versions, commits and machines its runs have, each value once."""
        known = [run.provenance for run in self.study.runs if run.provenance]
        if not self.study.runs and self.study.audit is not None:
            known = [self.study.audit["provenance"]]
        values = {
            name: [one[name] for one in known if one.get(name) is not None] for name in ORIGIN
        }
        return {name: list(dict.fromkeys(some)) for name, some in values.items()}

    def as_dict(self) -> dict[str, Any]:
        """For a JSON document."""
        return {
            "name": self.name,
            "path": str(self.path),
            "base": self.study.base,
            "seeds": self.study.seeds,
            "runs": self.study.counts,
            "complete": self.study.complete,
            "provenance": self.provenance,
        }


@dataclass(frozen=True)
class SameRule:
    """A rule in the first study that has it, and in another one: the other less the first."""

    first: MeasuredRule
    other: MeasuredRule
    settings: Settings
    agreement: Agreement
    differences: tuple[Difference, ...]

    @property
    def same_runs(self) -> bool:
        """Whether the same runs were trained: on another machine, say, or by another version."""
        return self.settings.same and self.agreement.common > 0

    def as_dict(self) -> dict[str, Any]:
        """For a JSON document."""
        return {
            "rule": self.other.rule,
            "first": self.first.study,
            "other": self.other.study,
            "same_runs": self.same_runs,
            **self.settings.as_dict(),
            "agreement": asdict(self.agreement),
            "differences": [difference.as_dict() for difference in self.differences],
        }


@dataclass(frozen=True)
class AgainstRule:
    """A rule less the reference rule, that of its own study where there is one.

    Attributes:
        rule: what is compared.
        reference: with what; None where no study that has the reference rule is comparable.
        nearest: the first study that has the reference rule, where none is comparable.
        settings: in what that study differs.
        differences: empty where there is no reference.
    """

    rule: MeasuredRule
    reference: MeasuredRule | None
    nearest: str | None = None
    settings: Settings | None = None
    differences: tuple[Difference, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """For a JSON document."""
        return {
            "study": self.rule.study,
            "rule": self.rule.rule,
            "reference": None if self.reference is None else self.reference.rule,
            "reference_study": None if self.reference is None else self.reference.study,
            "not_comparable_with": self.nearest,
            **(self.settings or Settings({}, ())).as_dict(),
            "differences": [difference.as_dict() for difference in self.differences],
        }


@dataclass(frozen=True)
class SideBySide:
    """Several studies in one; `to` is the rule that the others are compared with."""

    to: str
    studies: tuple[ComparedStudy, ...]
    same_rules: tuple[SameRule, ...]
    against: tuple[AgainstRule, ...]

    @property
    def rules(self) -> list[MeasuredRule]:
        """Of all studies, one study after the other."""
        return [rule for study in self.studies for rule in study.rules.values()]

    def as_dict(self) -> dict[str, Any]:
        """As one JSON document."""
        return {
            "schema_version": SCHEMA_VERSION,
            "to": self.to,
            "confidence": 1 - ERROR_RATE,
            "studies": [study.as_dict() for study in self.studies],
            "rules": [rule.as_dict() for rule in self.rules],
            "same_rules": [one.as_dict() for one in self.same_rules],
            "against": [one.as_dict() for one in self.against],
        }


def side_by_side(folders: Sequence[Path], to: str | None = None) -> SideBySide:
    """Compare studies; each rule with `to`, or with backpropagation where a study has it."""
    names = distinct_names(folders)
    studies = tuple(map(_compared, names, folders))
    known = list(dict.fromkeys(rule for study in studies for rule in study.rules))
    if to is not None and to not in known:
        raise UserError(f"none of the studies has the rule {to}; --to takes {', '.join(known)}")
    reference = to or USUAL_REFERENCE
    against = (
        _against(own, rule, studies, reference)
        for own in studies
        for rule in own.rules
        if rule != reference and reference in known
    )
    same = (pair for rule in known for pair in _same_rule(studies, rule))
    return SideBySide(reference, studies, tuple(same), tuple(against))


def _compared(name: str, folder: Path) -> ComparedStudy:
    study = gather(folder)
    rules = {view.method: measured_rule(name, view) for view in rule_views(study)}
    return ComparedStudy(name, folder, study, rules)


def _same_rule(studies: Sequence[ComparedStudy], rule: str) -> list[SameRule]:
    first, *others = (study for study in studies if rule in study.rules)
    return [
        SameRule(
            first.rules[rule],
            other.rules[rule],
            same_settings(first.study, other.study, rule),
            agreement(first.study, other.study, rule),
            _comparable(first.rules[rule], other.rules[rule]),
        )
        for other in others
    ]


def _against(
    own: ComparedStudy, rule: str, studies: Sequence[ComparedStudy], reference: str
) -> AgainstRule:
    """With the reference rule of its own study, or of the first one of the same base."""
    candidates = [study for study in (own, *studies) if reference in study.rules]
    measured = own.rules[rule]
    for candidate in candidates:
        if candidate is own or same_settings(candidate.study, own.study).same:
            found = candidate.rules[reference]
            return AgainstRule(measured, found, differences=_comparable(found, measured))
    nearest = candidates[0]
    return AgainstRule(measured, None, nearest.name, same_settings(nearest.study, own.study))


def _comparable(reference: MeasuredRule, rule: MeasuredRule) -> tuple[Difference, ...]:
    """Rungs of the ladder only where both networks have as many blocks."""
    pairs = paired_rules(reference, rule)
    rungs = reference.blocks == rule.blocks
    return tuple(pair for pair in pairs if rungs or pair.of in QUANTITIES)
