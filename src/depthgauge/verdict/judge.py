"""The verdict: three diagnostics, each with confidence, and one word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from depthgauge.verdict.diagnostics import (
    Diagnostic,
    SeedReadings,
    depth_over_seeds,
    reference_over_seeds,
    scale_over_seeds,
)
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
    """A word, and why; `reason` says it where there was nothing to judge."""

    word: Word
    diagnostics: tuple[Diagnostic, ...]
    seeds: int
    reason: str = ""

    @property
    def fired(self) -> tuple[str, ...]:
        """The diagnostics that fired."""
        return tuple(d.name for d in self.diagnostics if d.finding == "fires")

    @property
    def unclear(self) -> tuple[str, ...]:
        """The diagnostics whose interval straddles the threshold."""
        return tuple(d.name for d in self.diagnostics if d.finding == "straddles")

    @property
    def single_seed(self) -> bool:
        """Whether the word rests on point values somewhere."""
        tested = [d for d in self.diagnostics if d.finding != "untested"]
        return any(i.n == 1 for d in tested for i in d.intervals.values())

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
    seeds: Sequence[SeedReadings],
    thresholds: Thresholds | None = None,
    bp_gain: float | None = None,
) -> Verdict:
    """The verdict over seeds.

    *walk back* if any of D1, D2, D3 fires with confidence; else *inconclusive* if the interval of
    any straddles its threshold; else *trustworthy* if all three pass, or *no alarm, depth untested*
    if D3 was not measured, or does not apply because backpropagation gains nothing either
    (`bp_gain`). Each interval is at 1 − error_rate/3, so that the three together keep the rate.
    One seed: the same words by the point values.
    """
    t = thresholds or Thresholds()
    found = (
        scale_over_seeds(seeds, t),
        reference_over_seeds(seeds, t),
        depth_over_seeds(seeds, t, bp_gain),
    )
    findings = {diagnostic.finding for diagnostic in found}
    word: Word = "trustworthy"
    if "fires" in findings:
        word = "walk back"
    elif "straddles" in findings:
        word = "inconclusive"
    elif "untested" in findings:
        word = "no alarm, depth untested"
    return Verdict(word, found, len(seeds))


def _more_seeds(verdict: Verdict) -> str:
    counts = [d.more_seeds for d in verdict.diagnostics if d.finding == "straddles"]
    if any(count is None for count in counts):
        return "many more seeds needed"
    most = max(count for count in counts if count is not None)
    return f"about {most} more {'seed' if most == 1 else 'seeds'} needed"
