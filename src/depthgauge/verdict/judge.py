"""The verdict: three diagnostics, each with confidence, and one word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from depthgauge.verdict.intervals import Interval, interval, seeds_to_settle
from depthgauge.verdict.thresholds import Thresholds

Finding = Literal["fires", "passes", "straddles", "untested"]
Word = Literal["walk back", "inconclusive", "trustworthy", "no alarm, depth untested"]

DIAGNOSTICS = 3


@dataclass(frozen=True)
class SeedReadings:
    """What one trained network gives the verdict.

    Attributes:
        growth: D1, max over l of median‖h_{l+1}‖/median‖h_l‖.
        gradient: D2, median ‖g_L‖ of each sample's own loss.
        error_share: D2, median ‖g_L‖/‖e‖.
        numerics: D2n, cosine with the float64 gradient; None where not measured or undefined.
        depth_gain: D3, accuracy less that of the frozen baseline of the same seed; None if unknown.
    """

    growth: float
    gradient: float
    error_share: float
    numerics: float | None = None
    depth_gain: float | None = None


@dataclass(frozen=True)
class Diagnostic:
    """One diagnostic over seeds: what was found, from which intervals, in a sentence."""

    name: str
    finding: Finding
    intervals: dict[str, Interval]
    sentence: str
    more_seeds: int | None = None


@dataclass(frozen=True)
class Verdict:
    """A word, and why."""

    word: Word
    diagnostics: tuple[Diagnostic, ...]
    seeds: int

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
        return any(i.n == 1 for d in self.diagnostics for i in d.intervals.values())

    def __str__(self) -> str:
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
    found = (_scale(seeds, t), _reference(seeds, t), _depth(seeds, t, bp_gain))
    findings = {diagnostic.finding for diagnostic in found}
    word: Word = "trustworthy"
    if "fires" in findings:
        word = "walk back"
    elif "straddles" in findings:
        word = "inconclusive"
    elif "untested" in findings:
        word = "no alarm, depth untested"
    return Verdict(word, found, len(seeds))


def _scale(seeds: Sequence[SeedReadings], t: Thresholds) -> Diagnostic:
    growths = [seed.growth for seed in seeds]
    rate = t.error_rate / DIAGNOSTICS
    growth = interval(growths, rate, log=True)
    finding: Finding = "straddles"
    if growth.low > t.growth:
        finding = "fires"
    elif growth.high <= t.growth:
        finding = "passes"
    return Diagnostic(
        "D1",
        finding,
        {"growth": growth},
        f"scale: the stream grows {_shown(growth)} times at its steepest block (threshold "
        f"{t.growth:g})",
        _settled(finding, lambda: seeds_to_settle(growths, t.growth, rate, log=True)),
    )


def _reference(seeds: Sequence[SeedReadings], t: Thresholds) -> Diagnostic:
    """Both readings must be low; or the gradient must be numerically wrong in every seed."""
    rate = t.error_rate / DIAGNOSTICS
    gradients, shares = [s.gradient for s in seeds], [s.error_share for s in seeds]
    gradient, share = interval(gradients, rate, log=True), interval(shares, rate, log=True)
    wrong = [s.numerics is not None and s.numerics < t.numerics for s in seeds]
    finding: Finding = "straddles"
    if all(wrong) or (gradient.is_below(t.gradient) and share.is_below(t.error_share)):
        finding = "fires"
    elif not any(wrong) and (gradient.is_above(t.gradient) or share.is_above(t.error_share)):
        finding = "passes"

    def settle() -> int | None:
        counts = (
            seeds_to_settle(gradients, t.gradient, rate, log=True),
            seeds_to_settle(shares, t.error_share, rate, log=True),
        )
        return max((n for n in counts if n is not None), default=None)

    sentence = (
        f"reference: the last gradient is {_shown(gradient)} (floor {t.gradient:g}), "
        f"{_shown(share)} of the error (floor {t.error_share:g})"
    )
    if any(wrong):
        sentence += f"; numerically wrong in {sum(wrong)} of {len(seeds)} seeds (cosine with the "
        sentence += f"float64 gradient below {t.numerics:g})"
    return Diagnostic(
        "D2",
        finding,
        {"gradient": gradient, "error_share": share},
        sentence,
        _settled(finding, settle),
    )


def _depth(seeds: Sequence[SeedReadings], t: Thresholds, bp_gain: float | None) -> Diagnostic:
    gains = [seed.depth_gain for seed in seeds if seed.depth_gain is not None]
    if not gains:
        return Diagnostic("D3", "untested", {}, "depth utility: not measured (no frozen baseline)")
    rate = t.error_rate / DIAGNOSTICS
    gain = interval(gains, rate)
    sentence = (
        f"depth utility: training the blocks gains {_points(gain)} points over the frozen baseline "
        f"(threshold {100 * t.depth_gain:g})"
    )
    if bp_gain is not None and bp_gain < t.depth_gain:
        sentence = (
            f"depth utility: not applicable, backpropagation itself gains only "
            f"{100 * bp_gain:.1f} points on this task"
        )
        return Diagnostic("D3", "untested", {"depth_gain": gain}, sentence)
    finding: Finding = "straddles"
    if gain.is_below(t.depth_gain):
        finding = "fires"
    elif gain.is_above(t.depth_gain):
        finding = "passes"
    return Diagnostic(
        "D3",
        finding,
        {"depth_gain": gain},
        sentence,
        _settled(finding, lambda: seeds_to_settle(gains, t.depth_gain, rate)),
    )


def _settled(finding: Finding, count: Callable[[], int | None]) -> int | None:
    return count() if finding == "straddles" else None


def _more_seeds(verdict: Verdict) -> str:
    counts = [d.more_seeds for d in verdict.diagnostics if d.finding == "straddles"]
    if any(count is None for count in counts):
        return "many more seeds needed"
    most = max(count for count in counts if count is not None)
    return f"about {most} more {'seed' if most == 1 else 'seeds'} needed"


def _shown(i: Interval) -> str:
    return f"{i.center:.3g}" + (f" [{i.low:.2g}, {i.high:.2g}]" if i.n > 1 else "")


def _points(i: Interval) -> str:
    center = f"{100 * i.center:+.1f}"
    return center + (f" [{100 * i.low:+.1f}, {100 * i.high:+.1f}]" if i.n > 1 else "")
