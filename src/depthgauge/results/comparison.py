"""Several studies side by side: every rule, the same rule in several, each rule against one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from depthgauge.config import SCHEMA_VERSION
from depthgauge.errors import UserError
from depthgauge.results.config_difference import (
    Agreement,
    ConfigDifference,
    agreement,
    config_difference,
)
from depthgauge.results.paired import ERROR_RATE, Difference, paired
from depthgauge.results.rule import QUANTITIES, RuleResult
from depthgauge.results.spread import Spread
from depthgauge.results.study import StudyResult
from depthgauge.results.study_names import distinct_names

USUAL_REFERENCE = "bp"
ORIGIN = ("version", "commit", "python", "torch", "processor", "gpu", "device", "threads")
"""What of its provenance tells where a result comes from."""


@dataclass(frozen=True)
class ComparedRule:
    """A rule, and the name that its study goes by here."""

    study: str
    result: RuleResult

    @property
    def label(self) -> str:
        """What tables call the rule."""
        return self.result.label

    def spread(self, quantity: str) -> Spread:
        """Return mean and standard deviation of a quantity over seeds."""
        return Spread.of(self.result.values[quantity].values())

    def as_dict(self) -> dict[str, Any]:
        """Return the rule for a JSON document."""
        return {
            "study": self.study,
            "label": self.label,
            "control": self.result.control,
            **{quantity: asdict(self.spread(quantity)) for quantity in QUANTITIES},
            "verdict": self.result.verdict.word,
            "verdict_in_words": str(self.result.verdict),
            "basis": self.result.basis,
            "diverged_seeds": self.result.diverged_seeds,
            "values": {
                quantity: {str(seed): value for seed, value in by_seed.items()}
                for quantity, by_seed in self.result.values.items()
            },
        }


@dataclass(frozen=True)
class ComparedStudy:
    """A study with the name it goes by here, and its rules by label."""

    name: str
    path: Path
    study: StudyResult
    rules: dict[str, ComparedRule]

    @property
    def provenance(self) -> dict[str, list[Any]]:
        """Which versions, commits and machines its runs have, each value once."""
        known = self.study.provenances
        if self.study.runs:
            known = [run.provenance for run in self.study.runs if run.provenance]
        values = {
            name: [one[name] for one in known if one.get(name) is not None] for name in ORIGIN
        }
        return {name: list(dict.fromkeys(some)) for name, some in values.items()}

    def as_dict(self) -> dict[str, Any]:
        """For a JSON document."""
        return {
            "name": self.name,
            "path": str(self.path),
            "config": self.study.config.model_dump(mode="json", exclude_none=True),
            "seeds": self.study.seeds,
            "runs": self.study.counts,
            "complete": self.study.is_complete,
            "provenance": self.provenance,
        }


@dataclass(frozen=True)
class SameRule:
    """A rule in the first study that has it, and in another one: the other less the first."""

    first: ComparedRule
    other: ComparedRule
    settings: ConfigDifference
    agreement: Agreement
    differences: tuple[Difference, ...]

    @property
    def same_runs(self) -> bool:
        """Whether the same runs were trained: on another machine, say, or by another version."""
        return self.settings.is_none and self.agreement.common > 0

    def as_dict(self) -> dict[str, Any]:
        """For a JSON document."""
        return {
            "label": self.other.label,
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

    rule: ComparedRule
    reference: ComparedRule | None
    nearest: str | None = None
    settings: ConfigDifference | None = None
    differences: tuple[Difference, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """For a JSON document."""
        return {
            "study": self.rule.study,
            "label": self.rule.label,
            "reference": None if self.reference is None else self.reference.label,
            "reference_study": None if self.reference is None else self.reference.study,
            "not_comparable_with": self.nearest,
            **(self.settings or ConfigDifference({}, ())).as_dict(),
            "differences": [difference.as_dict() for difference in self.differences],
        }


@dataclass(frozen=True)
class Comparison:
    """Several studies in one; `to` is the rule that the others are compared with."""

    to: str
    studies: tuple[ComparedStudy, ...]
    same_rules: tuple[SameRule, ...]
    against: tuple[AgainstRule, ...]

    @property
    def rules(self) -> list[ComparedRule]:
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


def compare_studies(results: Sequence[StudyResult], to: str | None = None) -> Comparison:
    """Compare studies; each rule with `to`, or with backpropagation where a study has it."""
    names = distinct_names([study.folder for study in results])
    studies = tuple(map(_compared, names, results))
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
    return Comparison(reference, studies, tuple(same), tuple(against))


def _compared(name: str, study: StudyResult) -> ComparedStudy:
    rules = {label: ComparedRule(name, rule) for label, rule in study.rules.items()}
    return ComparedStudy(name, study.folder, study, rules)


def _same_rule(studies: Sequence[ComparedStudy], rule: str) -> list[SameRule]:
    first, *others = (study for study in studies if rule in study.rules)
    return [
        SameRule(
            first.rules[rule],
            other.rules[rule],
            config_difference(first.study, other.study, rule),
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
        if candidate is own or config_difference(candidate.study, own.study).is_none:
            found = candidate.rules[reference]
            return AgainstRule(measured, found, differences=_comparable(found, measured))
    nearest = candidates[0]
    return AgainstRule(measured, None, nearest.name, config_difference(nearest.study, own.study))


def _comparable(reference: ComparedRule, rule: ComparedRule) -> tuple[Difference, ...]:
    """The second less the first; rungs only where both networks have as many blocks."""
    has_rungs = reference.result.blocks == rule.result.blocks
    before = reference.result.values
    return tuple(
        paired(quantity, before[quantity], values)
        for quantity, values in rule.result.values.items()
        if values and before.get(quantity) and (has_rungs or quantity in QUANTITIES)
    )
