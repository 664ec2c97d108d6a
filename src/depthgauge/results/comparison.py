"""The result of comparing studies: the studies, their rules, and the rules' differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from depthgauge.config import SCHEMA_VERSION, SharedConfig
from depthgauge.json_values import plain_object
from depthgauge.results.config_difference import Agreement, OptionDifference
from depthgauge.results.paired_difference import ERROR_RATE, Difference
from depthgauge.results.rule import Basis
from depthgauge.results.run import State
from depthgauge.results.spread import Spread
from depthgauge.results.study import StudyResult
from depthgauge.verdict.words import Word


@dataclass(frozen=True)
class ComparedStudy:
    """A study in a comparison.

    Attributes:
        name: the last parts of its path: as few parts as make all names of studies differ.
        path: the folder of the study.
        config: the configuration that all its runs share.
        seeds: every seed.
        runs: the number of runs in each state.
        complete: whether every run has ended.
        provenance: the versions, commits and machines of its runs, each value once.
    """

    name: str
    path: Path
    config: SharedConfig
    seeds: Sequence[int]
    runs: Mapping[State, int]
    complete: bool
    provenance: Mapping[str, Sequence[str | int]]


@dataclass(frozen=True)
class ComparedRule:
    """A rule of one of the studies: its spreads over seeds, and the values behind them.

    Attributes:
        study: the name of its study in the comparison.
        label: the label of the rule in tables.
        control: the control under which the rule was trained; None without a control.
        accuracy, frozen, gain: the accuracy with all blocks trained, with frozen blocks, and the
            difference.
        used_depth: how many blocks earn accuracy, in words; empty without a ladder.
        verdict: the verdict's word.
        verdict_in_words: the verdict's word with its details.
        basis: what the verdict rests on: an audit, the metrics of training, or nothing yet.
        diverged_seeds: the seeds with which training of the whole network diverged.
        values: accuracy, frozen, gain and rungs, by name and seed.
    """

    study: str
    label: str
    control: str | None
    accuracy: Spread
    frozen: Spread
    gain: Spread
    used_depth: str
    verdict: Word
    verdict_in_words: str
    basis: Basis
    diverged_seeds: Sequence[int]
    values: Mapping[str, Mapping[int, float]]


@dataclass(frozen=True)
class SameRule:
    """One rule in two studies, and its differences: the other study minus the first.

    Attributes:
        label: the label of the rule in tables.
        first, other: the names of the two studies.
        same_runs: whether both studies trained the same runs, for example on two machines or with
            two versions.
        differ_in: the options with different values.
        not_known: the sections that one of the configurations lacks.
        agreement: how many runs of equal k and seed agree.
        differences: the difference of each quantity.
    """

    label: str
    first: str
    other: str
    same_runs: bool
    differ_in: Sequence[OptionDifference]
    not_known: Sequence[str]
    agreement: Agreement
    differences: Sequence[Difference]


@dataclass(frozen=True)
class AgainstRule:
    """The differences of a rule from the reference rule, if possible in the same study.

    Attributes:
        study, label: the study and the label of the rule.
        reference, reference_study: the reference rule and its study; None if no study with the
            reference rule is comparable.
        not_comparable_with: the first study with the reference rule; None if there is a
            `reference`.
        differ_in: the options in which `not_comparable_with` differs from `study`.
        not_known: the sections of the configuration that one of the two studies lacks.
        differences: the difference of each quantity; empty without a reference.
    """

    study: str
    label: str
    reference: str | None = None
    reference_study: str | None = None
    not_comparable_with: str | None = None
    differ_in: Sequence[OptionDifference] = ()
    not_known: Sequence[str] = ()
    differences: Sequence[Difference] = ()


@dataclass(frozen=True)
class Comparison:
    """The comparison of several studies.

    Attributes:
        to: the label of the reference rule, with which the other rules are compared.
        studies: the name and the facts of each study.
        rules: the rules of all studies.
        same_rules: the rules that several studies have.
        against: each rule compared with the reference rule.
        results: the complete result of each study, in the order of `studies`.
    """

    to: str
    studies: Sequence[ComparedStudy]
    rules: Sequence[ComparedRule]
    same_rules: Sequence[SameRule]
    against: Sequence[AgainstRule]
    results: Sequence[StudyResult]

    @property
    def score(self) -> str:
        """Return the word for the studies' scores: accuracy, R², or both."""
        return " or ".join(dict.fromkeys(study.score for study in self.results)) or "accuracy"

    def to_dict(self) -> dict[str, JsonValue]:
        """Return the comparison as one JSON document, without `results`."""
        return plain_object(
            {
                "schema_version": SCHEMA_VERSION,
                "to": self.to,
                "confidence": 1 - ERROR_RATE,
                "studies": self.studies,
                "rules": self.rules,
                "same_rules": self.same_rules,
                "against": self.against,
            }
        )
