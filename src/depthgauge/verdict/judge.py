"""The verdict: every diagnostic with confidence, and one word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from depthgauge.diagnostics.case import Case
from depthgauge.diagnostics.contract import Readings
from depthgauge.diagnostics.finding import Finding
from depthgauge.diagnostics.registry import diagnostics, quantities
from depthgauge.errors import UserError
from depthgauge.verdict.thresholds import Thresholds

Word = Literal[
    "walk back",
    "inconclusive",
    "trustworthy",
    "no alarm, depth untested",
    "no blocks",
    "not judged",
]
"""The last two stand where there is nothing to judge: no depth, or no evidence yet."""


@dataclass(frozen=True)
class Verdict:
    """A word, and why.

    Attributes:
        word: what it comes to.
        findings: of the diagnostics that count.
        seeds: how many networks were judged.
        besides: findings of the diagnostics that are never a verdict by themselves.
        reason: why there was nothing to judge, where that is so.
    """

    word: Word
    findings: tuple[Finding, ...]
    seeds: int
    besides: tuple[Finding, ...] = ()
    reason: str = ""

    @property
    def fired(self) -> tuple[str, ...]:
        """The diagnostics that fired."""
        return tuple(finding.id for finding in self.findings if finding.fires)

    @property
    def unclear(self) -> tuple[str, ...]:
        """The diagnostics whose interval straddles the threshold."""
        return tuple(finding.id for finding in self.findings if finding.straddles)

    @property
    def single_seed(self) -> bool:
        """Whether the word rests on point values somewhere."""
        tested = [finding for finding in self.findings if not finding.untested]
        return any(i.n == 1 for finding in tested for i in finding.intervals.values())

    def __str__(self) -> str:
        if self.reason:
            return f"{self.word}: {self.reason}"
        details: list[str] = []
        if self.word == "walk back":
            details += self.fired
        if self.word == "inconclusive":
            details.append(f"{', '.join(self.unclear)}: {_more_seeds(self)}")
        if self.single_seed:
            details.append("single seed")
        return self.word + (f" ({', '.join(details)})" if details else "")


def judge(
    seeds: Sequence[Readings],
    thresholds: Thresholds | None = None,
    bp_gain: float | None = None,
) -> Verdict:
    """Return the verdict over seeds, from the readings of one network for each.

    *walk back* if any diagnostic that counts fires with confidence; else *inconclusive* if the
    interval of any straddles its threshold; else *trustworthy* if all pass, or *no alarm, depth
    untested* if one was not measured, or does not apply: depth utility does not where
    backpropagation gains nothing either (`bp_gain`). The error rate is shared equally among the
    diagnostics that count, so that all intervals together keep it. One seed: the same words by
    the point values.
    """
    used = thresholds or Thresholds()
    _check_names(seeds)
    case = Case(seeds, used, used.error_rate_of_each, bp_gain)
    found = [(diagnostic, diagnostic.decide(case)) for diagnostic in diagnostics()]
    findings = tuple(finding for diagnostic, finding in found if diagnostic.counts)
    besides = tuple(finding for diagnostic, finding in found if not diagnostic.counts)
    outcomes = {finding.outcome for finding in findings}
    word: Word = "trustworthy"
    if "fires" in outcomes:
        word = "walk back"
    elif "straddles" in outcomes:
        word = "inconclusive"
    elif "untested" in outcomes:
        word = "no alarm, depth untested"
    return Verdict(word, findings, len(seeds), besides)


def _check_names(seeds: Sequence[Readings]) -> None:
    """Refuse a reading that no diagnostic asks for: most likely it is misspelt."""
    known = quantities()
    for name in (name for seed in seeds for name in seed if name not in known):
        raise UserError(f"no diagnostic reads {name!r}; there are: {', '.join(known)}")


def _more_seeds(verdict: Verdict) -> str:
    counts = [finding.more_seeds for finding in verdict.findings if finding.straddles]
    if any(count is None for count in counts):
        return "many more seeds needed"
    most = max(count for count in counts if count is not None)
    return f"about {most} more {'seed' if most == 1 else 'seeds'} needed"
