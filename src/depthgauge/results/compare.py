"""Compare studies: the same rule in several studies, and each rule with a reference rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from depthgauge.errors import UserError
from depthgauge.results.comparison import (
    AgainstRule,
    ComparedRule,
    ComparedStudy,
    Comparison,
    SameRule,
)
from depthgauge.results.config_difference import agreement, config_difference
from depthgauge.results.paired_difference import Difference, paired_difference
from depthgauge.results.rule import QUANTITIES, RuleResult
from depthgauge.results.spread import Spread
from depthgauge.results.study import StudyResult

USUAL_REFERENCE = "bp"
ORIGIN = ("version", "commit", "python", "torch", "processor", "gpu", "device", "threads")
"""The fields of provenance that a comparison shows."""


@dataclass(frozen=True)
class _NamedStudy:
    """A study, and its name in the comparison."""

    name: str
    result: StudyResult


def compare_studies(results: Sequence[StudyResult], to: str | None = None) -> Comparison:
    """Compare studies, and each rule with the rule `to`; without `to`, with backpropagation."""
    names = distinct_names([study.folder for study in results])
    studies = list(map(_NamedStudy, names, results))
    known = list(dict.fromkeys(rule for study in results for rule in study.rules))
    if to is not None and to not in known:
        raise UserError(f"no study has the rule {to}; --to takes one of {', '.join(known)}")
    reference = to or USUAL_REFERENCE
    against = (
        _against(own, rule, studies, reference)
        for own in studies
        for rule in own.result.rules.values()
        if rule.label != reference and reference in known
    )
    return Comparison(
        to=reference,
        studies=tuple(map(_study, studies)),
        rules=tuple(
            _rule(study.name, rule) for study in studies for rule in study.result.rules.values()
        ),
        same_rules=tuple(pair for label in known for pair in _same_rule(studies, label)),
        against=tuple(against),
        results=tuple(results),
    )


def distinct_names(folders: Sequence[Path]) -> list[str]:
    """Return the names of the folders, with as many parent folders as make each name unique."""
    paths = [folder.resolve() for folder in folders]
    for index, path in enumerate(paths):
        if path in paths[:index]:
            raise UserError(f"{folders[index]} is given twice; give each study once")
    return [_name(path, [other for other in paths if other.name == path.name]) for path in paths]


def _name(path: Path, namesakes: Sequence[Path]) -> str:
    """Return the last parts of a path: as few parts as distinguish all `namesakes`."""
    needed = next(
        parts
        for parts in count(1)
        if len({other.parts[-parts:] for other in namesakes}) == len(namesakes)
    )
    return str(Path(*path.parts[-needed:]))


def _study(named: _NamedStudy) -> ComparedStudy:
    study = named.result
    return ComparedStudy(
        name=named.name,
        path=study.folder,
        config=study.config,
        seeds=study.seeds,
        runs=study.counts,
        complete=study.is_complete,
        provenance=_origin(study),
    )


def _origin(study: StudyResult) -> dict[str, list[str | int]]:
    """Return the distinct values of each field of provenance.

    The values come from the runs; if the study has no runs, from its audit.
    """
    known = study.provenances
    if study.runs:
        known = [run.provenance for run in study.runs if run.provenance]
    values = {
        name: [provenance[name] for provenance in known if provenance.get(name) is not None]
        for name in ORIGIN
    }
    return {name: list(dict.fromkeys(every)) for name, every in values.items()}


def _rule(study: str, rule: RuleResult) -> ComparedRule:
    spreads = {name: Spread.of(rule.values[name].values()) for name in QUANTITIES}
    return ComparedRule(
        study=study,
        label=rule.label,
        control=rule.control,
        **spreads,
        used_depth=str(rule.used_depth) if rule.used_depth else "",
        verdict=rule.verdict.word,
        verdict_in_words=str(rule.verdict),
        basis=rule.basis,
        diverged_seeds=rule.diverged_seeds,
        values=rule.values,
    )


def _same_rule(studies: Sequence[_NamedStudy], label: str) -> list[SameRule]:
    """Compare one rule between studies: the first study that has the rule with each later study."""
    first, *others = (study for study in studies if label in study.result.rules)
    return [_pair(first, other, label) for other in others]


def _pair(first: _NamedStudy, other: _NamedStudy, label: str) -> SameRule:
    difference = config_difference(first.result, other.result, label)
    alike = agreement(first.result, other.result, label)
    return SameRule(
        label=label,
        first=first.name,
        other=other.name,
        same_runs=difference.is_empty and alike.common > 0,
        differ_in=difference.differ_in,
        not_known=difference.not_known,
        agreement=alike,
        differences=_comparable(first.result.rules[label], other.result.rules[label]),
    )


def _against(
    own: _NamedStudy, rule: RuleResult, studies: Sequence[_NamedStudy], reference: str
) -> AgainstRule:
    """Compare a rule with the reference rule of its own study.

    If its own study lacks the reference rule, use the reference rule of the first study with the
    same configuration.
    """
    candidates = [study for study in (own, *studies) if reference in study.result.rules]
    for candidate in candidates:
        if candidate is own or config_difference(candidate.result, own.result).is_empty:
            differences = _comparable(candidate.result.rules[reference], rule)
            return AgainstRule(
                own.name, rule.label, reference, candidate.name, differences=differences
            )
    nearest = candidates[0]
    difference = config_difference(nearest.result, own.result)
    return AgainstRule(
        own.name,
        rule.label,
        not_comparable_with=nearest.name,
        differ_in=difference.differ_in,
        not_known=difference.not_known,
    )


def _comparable(reference: RuleResult, rule: RuleResult) -> tuple[Difference, ...]:
    """Return the differences between a rule and the reference rule.

    Rungs are compared only if both networks have the same number of blocks.
    """
    has_rungs = reference.blocks == rule.blocks
    return tuple(
        paired_difference(quantity, reference.values[quantity], values)
        for quantity, values in rule.values.items()
        if values and reference.values.get(quantity) and (has_rungs or quantity in QUANTITIES)
    )
