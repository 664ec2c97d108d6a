"""What comparing studies gives: every rule, the same rule in several, each against one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
    """A study, by the name it goes by here.

    Attributes:
        name: the shortest end of its path that no other study has.
        path: its folder.
        config: what all its runs have in common.
        seeds: every seed.
        runs: how many are in each state.
        complete: whether nothing is left to train.
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
    """A rule of one of the studies: its spreads over seeds, and what is behind them.

    Attributes:
        study: the name that its study goes by here.
        label: what tables call the rule.
        control: which control it was trained under, if any.
        accuracy, frozen, gain: with all blocks trained, with none, and the difference.
        used_depth: how many blocks earn accuracy, in words; empty without a ladder.
        verdict: the word; `verdict_in_words` says why.
        basis: what the verdict rests on.
        diverged_seeds: the seeds with which training of the whole network diverged.
        values: what was measured, by quantity and seed.
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
    """A rule in the first study that has it, and in another one: the other less the first.

    Attributes:
        label: what tables call the rule.
        first, other: names of the two studies.
        same_runs: whether the same runs were trained: on another machine, say, or by another
            version.
        differ_in, not_known: in what the configurations differ.
        agreement: how alike the runs of equal k and seed are.
        differences: by quantity.
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
    """A rule less the reference rule, that of its own study where there is one.

    Attributes:
        study, label: what is compared.
        reference, reference_study: with what; None where no study that has the reference rule is
            comparable.
        not_comparable_with: the first study that has the reference rule, where none is comparable.
        differ_in, not_known: in what that study differs.
        differences: by quantity; empty where there is no reference.
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
    """Several studies in one; `to` is the rule that the others are compared with.

    `results` are the studies themselves, in the order of `studies`.
    """

    to: str
    studies: Sequence[ComparedStudy]
    rules: Sequence[ComparedRule]
    same_rules: Sequence[SameRule]
    against: Sequence[AgainstRule]
    results: Sequence[StudyResult]

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as one JSON document, without the studies themselves."""
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
