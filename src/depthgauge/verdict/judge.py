"""The verdict: every diagnostic with confidence, and one word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from depthgauge.diagnostics.case import Case
from depthgauge.diagnostics.contract import Readings
from depthgauge.diagnostics.finding import Finding
from depthgauge.diagnostics.registry import diagnostics, quantities
from depthgauge.diagnostics.used_depth import LEAST_SEEDS, UsedDepth, in_words
from depthgauge.errors import UserError
from depthgauge.verdict.thresholds import Thresholds
from depthgauge.verdict.words import Word

Protocol = Literal["depthgauge", "published"]
"""Whose words: ours, which ask for the ladder, or those of the published protocol."""


@dataclass(frozen=True)
class Verdict:
    """A word, and why.

    Attributes:
        word: what it comes to.
        findings: of the diagnostics that count.
        seeds: how many networks were judged.
        besides: findings of the diagnostics that are never a verdict by themselves.
        reason: why there was nothing to judge, where that is so.
        used_depth: how many blocks earn accuracy; None where there is no ladder.
    """

    word: Word
    findings: tuple[Finding, ...]
    seeds: int
    besides: tuple[Finding, ...] = ()
    reason: str = ""
    used_depth: UsedDepth | None = None

    @property
    def fired(self) -> tuple[str, ...]:
        """The diagnostics that fired."""
        return tuple(finding.id for finding in self.findings if finding.fires)

    @property
    def unclear(self) -> tuple[str, ...]:
        """The diagnostics whose interval straddles the threshold."""
        return tuple(finding.id for finding in self.findings if finding.straddles)

    def finding(self, name: str) -> Finding | None:
        """Return what one diagnostic found; None where it did not look."""
        every = (*self.findings, *self.besides)
        return next((found for found in every if found.id == name), None)

    @property
    def single_seed(self) -> bool:
        """Whether the word rests on point values somewhere."""
        tested = [finding for finding in self.findings if not finding.untested]
        return any(i.n == 1 for finding in tested for i in finding.intervals.values())

    @property
    def published(self) -> Verdict:
        """The verdict by the published protocol, which does not ask for a ladder."""
        if not self.findings or self.reason:
            return self
        findings = tuple(
            replace(finding, outcome=finding.published or finding.outcome, published=None)
            for finding in self.findings
        )
        word = _published_word(findings)
        return replace(self, word=word, findings=findings, used_depth=None)

    @property
    def sentence(self) -> str:
        """The verdict for somebody who sees it for the first time."""
        depth = f"{in_words(self.used_depth)}; " if self.used_depth else ""
        return f"{depth}{self}"

    @property
    def why(self) -> tuple[str, ...]:
        """What each diagnostic found, a sentence each."""
        return tuple(finding.sentence for finding in (*self.findings, *self.besides))

    def __str__(self) -> str:
        if self.reason:
            return f"{self.word}: {self.reason}"
        details: list[str] = []
        if self.word == "walk back":
            details += self.fired
        if self.word == "inconclusive":
            details += self._open()
        if self.word == "no alarm, depth untested" and self.unclear:
            details.append(f"{', '.join(self.unclear)} open")
        if self.single_seed:
            details.append("single seed")
        return self.word + (f" ({', '.join(details)})" if details else "")

    def _open(self) -> list[str]:
        """What is open: readings at their thresholds, then rungs."""
        words = [f"{', '.join(self.unclear)}: {_more_seeds(self)}"] if self.unclear else []
        depth = self.used_depth
        rungs = depth.open_rungs if depth and depth.seeds >= LEAST_SEEDS else ()
        if rungs:
            words.append(f"k = {', '.join(map(str, rungs))} open: more seeds needed")
        return words


def judge(
    seeds: Sequence[Readings],
    thresholds: Thresholds | None = None,
    bp_gain: float | None = None,
    *,
    used_depth: UsedDepth | None = None,
    protocol: Protocol = "depthgauge",
) -> Verdict:
    """Return the verdict over seeds, from the readings of one network for each.

    In this order:

    1. *walk back* if any diagnostic that counts fires with confidence;
    2. *no alarm, depth untested* if there is no `used_depth`, the task does not tell depth, or a
       diagnostic was not measured or does not apply: depth utility does not where backpropagation
       gains nothing either (`bp_gain`);
    3. *shallow* if fewer rungs may be in use than backpropagation is shown to gain from;
    4. *trustworthy* if every diagnostic passes, and at least as many rungs are shown to earn as
       backpropagation may use;
    5. *inconclusive*.

    The published protocol asks for no ladder: *inconclusive* comes before *untested*, and what is
    left is trustworthy. The error rate is shared equally among the diagnostics that count, so that
    all intervals together keep it. One seed: the same words by the point values.
    """
    used = thresholds or Thresholds()
    _check_names(seeds)
    case = Case(seeds, used, used.error_rate_of_each, bp_gain)
    found = [(diagnostic, diagnostic.decide(case)) for diagnostic in diagnostics()]
    findings = tuple(finding for diagnostic, finding in found if diagnostic.counts)
    besides = tuple(finding for diagnostic, finding in found if not diagnostic.counts)
    word = _word(findings, used_depth)
    verdict = Verdict(word, findings, len(seeds), besides, used_depth=used_depth)
    return verdict.published if protocol == "published" else verdict


def _word(findings: Sequence[Finding], depth: UsedDepth | None) -> Word:
    outcomes = {finding.outcome for finding in findings}
    if "fires" in outcomes:
        return "walk back"
    if depth is None or not depth.is_testable or "untested" in outcomes:
        return "no alarm, depth untested"
    if depth.is_shallow:
        return "shallow"
    if outcomes == {"passes"} and depth.is_deep:
        return "trustworthy"
    return "inconclusive"


def _published_word(findings: Sequence[Finding]) -> Word:
    outcomes = {finding.outcome for finding in findings}
    if "fires" in outcomes:
        return "walk back"
    if "straddles" in outcomes:
        return "inconclusive"
    if "untested" in outcomes:
        return "no alarm, depth untested"
    return "trustworthy"


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
