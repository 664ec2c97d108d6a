"""The verdict: the finding of every diagnostic over seeds, and one word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from depthgauge.diagnostics.contract import Readings
from depthgauge.diagnostics.evidence import RuleEvidence
from depthgauge.diagnostics.finding import Finding
from depthgauge.diagnostics.registry import diagnostics, quantities
from depthgauge.diagnostics.used_depth import LEAST_SEEDS, UsedDepth, in_words
from depthgauge.errors import UserError
from depthgauge.verdict.thresholds import Thresholds
from depthgauge.verdict.words import Word

Protocol = Literal["depthgauge", "published"]
"""The protocol that chooses the word: ours, which needs a ladder, or the published protocol."""


@dataclass(frozen=True)
class Verdict:
    """A word, and the reasons for it.

    Attributes:
        word: the verdict in one word.
        findings: the findings of the diagnostics that have a part in the verdict.
        seeds: the number of networks that were judged.
        besides: the findings of the other diagnostics, which have no part in the verdict.
        reason: the reason why nothing was judged; empty if something was judged.
        used_depth: how many blocks earn accuracy; None without a ladder.
    """

    word: Word
    findings: tuple[Finding, ...]
    seeds: int
    besides: tuple[Finding, ...] = ()
    reason: str = ""
    used_depth: UsedDepth | None = None

    @property
    def fired(self) -> tuple[str, ...]:
        """Return the ids of the diagnostics that fired."""
        return tuple(finding.id for finding in self.findings if finding.fires)

    @property
    def unclear(self) -> tuple[str, ...]:
        """Return the ids of the diagnostics whose interval is on both sides of the threshold."""
        return tuple(finding.id for finding in self.findings if finding.straddles)

    def finding(self, name: str) -> Finding | None:
        """Return the finding of one diagnostic; None if the verdict has none."""
        findings = (*self.findings, *self.besides)
        return next((finding for finding in findings if finding.id == name), None)

    @property
    def single_seed(self) -> bool:
        """Return whether some finding rests on a single seed."""
        tested = [finding for finding in self.findings if not finding.untested]
        return any(i.n == 1 for finding in tested for i in finding.intervals.values())

    @property
    def published(self) -> Verdict:
        """Return the verdict by the published protocol, which needs no ladder."""
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
        """Return the verdict in a sentence for a newcomer."""
        depth = f"{in_words(self.used_depth)}; " if self.used_depth else ""
        return f"{depth}{self}"

    @property
    def why(self) -> tuple[str, ...]:
        """Return one sentence for each diagnostic."""
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
        """List what is undecided: first the unclear diagnostics, then rungs of the ladder."""
        details = [f"{', '.join(self.unclear)}: {_more_seeds(self)}"] if self.unclear else []
        depth = self.used_depth
        rungs = depth.open_rungs if depth and depth.seeds >= LEAST_SEEDS else ()
        if rungs:
            details.append(f"k = {', '.join(map(str, rungs))} open: more seeds needed")
        return details


def judge(
    seeds: Sequence[Readings],
    thresholds: Thresholds | None = None,
    bp_gain: float | None = None,
    *,
    used_depth: UsedDepth | None = None,
    protocol: Protocol = "depthgauge",
) -> Verdict:
    """Return the verdict over seeds, from the readings of one network for each seed.

    Only diagnostics that have a part in the verdict are considered. The word is the first in this
    list that applies:

    1. *walk back* if any diagnostic fires with confidence;
    2. *no alarm, depth untested* if there is no `used_depth`, if the task cannot show depth, or if
       a diagnostic was not measured or does not apply. Depth utility does not apply if
       backpropagation itself gains too little from depth (`bp_gain`);
    3. *shallow* if the rule uses fewer rungs of the ladder than backpropagation. This holds if the
       largest number of rungs that the rule may use is below the number of rungs from which
       backpropagation is shown to gain;
    4. *trustworthy* if every diagnostic passes, and the rule uses at least as many rungs as
       backpropagation. This holds if the number of rungs that are shown to earn under the rule is
       at least the largest number of rungs that backpropagation may use;
    5. *inconclusive* otherwise.

    The published protocol needs no ladder. Its list is *walk back*, *inconclusive*, *no alarm,
    depth untested* and *trustworthy*, in this order.

    The error rate is divided equally among the diagnostics, so that it holds for all intervals
    together. With one seed there are no intervals, and the readings themselves decide.
    """
    used = thresholds or Thresholds()
    _check_names(seeds)
    evidence = RuleEvidence(seeds, used, used.error_rate_of_each, bp_gain)
    findings = tuple(d.decide(evidence) for d in diagnostics() if d.counts)
    besides = tuple(d.decide(evidence) for d in diagnostics() if not d.counts)
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
    """Refuse a reading that no diagnostic asks for; its name is probably misspelt."""
    known = quantities()
    for name in (name for seed in seeds for name in seed if name not in known):
        raise UserError(f"no diagnostic reads {name!r}; the readings are: {', '.join(known)}")


def _more_seeds(verdict: Verdict) -> str:
    counts = [finding.more_seeds for finding in verdict.findings if finding.straddles]
    if any(count is None for count in counts):
        return "many more seeds needed"
    most = max(count for count in counts if count is not None)
    return f"about {most} more {'seed' if most == 1 else 'seeds'} needed"
