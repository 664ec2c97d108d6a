"""The three diagnostics over seeds: fires, passes, straddles its threshold, or untested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from depthgauge.verdict.intervals import Interval, interval, seeds_to_settle
from depthgauge.verdict.thresholds import Thresholds

Finding = Literal["fires", "passes", "straddles", "untested"]

DIAGNOSTICS = 3


@dataclass(frozen=True)
class SeedReadings:
    """What one trained network gives the verdict.

    Attributes:
        growth: D1, max over l of median‖h_{l+1}‖/median‖h_l‖.
        gradient: D2, median ‖g_L‖ of each sample's own loss.
        error_share: D2, median ‖g_L‖/‖e‖; None where it was not recorded.
        numerics: D2n, cosine with the float64 gradient; None where not measured or undefined.
        depth_gain: D3, accuracy less that of the frozen baseline of the same seed; None if unknown.
    """

    growth: float
    gradient: float
    error_share: float | None
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


def scale_over_seeds(seeds: Sequence[SeedReadings], t: Thresholds) -> Diagnostic:
    """D1: the largest growth of the stream between neighbouring blocks."""
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
        seeds_to_settle(growths, t.growth, rate, log=True) if finding == "straddles" else None,
    )


def reference_over_seeds(seeds: Sequence[SeedReadings], t: Thresholds) -> Diagnostic:
    """D2: both readings must be low; or the gradient must be numerically wrong in every seed."""
    rate = t.error_rate / DIAGNOSTICS
    gradients = [s.gradient for s in seeds]
    shares = [s.error_share for s in seeds if s.error_share is not None]
    if len(shares) < len(seeds):
        return _reference_without_shares(interval(gradients, rate, log=True), t)
    gradient, share = interval(gradients, rate, log=True), interval(shares, rate, log=True)
    wrong = [s.numerics is not None and s.numerics < t.numerics for s in seeds]
    finding: Finding = "straddles"
    if all(wrong) or (gradient.is_below(t.gradient) and share.is_below(t.error_share)):
        finding = "fires"
    elif not any(wrong) and (gradient.is_above(t.gradient) or share.is_above(t.error_share)):
        finding = "passes"

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
        None if finding != "straddles" or any(wrong) else _seeds_for_reference(seeds, t),
    )


def _reference_without_shares(gradient: Interval, t: Thresholds) -> Diagnostic:
    """D2 where ‖g_L‖/‖e‖ is not known: a gradient that is not low passes, a low one may be either.

    A network that is right and sure of it has a low gradient too.
    """
    sentence = f"reference: the last gradient is {_shown(gradient)} (floor {t.gradient:g})"
    if gradient.is_above(t.gradient):
        return Diagnostic("D2", "passes", {"gradient": gradient}, sentence)
    sentence += (
        "; its share of the error was not recorded, so it cannot be told whether that is bad"
    )
    return Diagnostic("D2", "untested", {"gradient": gradient}, sentence)


def _seeds_for_reference(seeds: Sequence[SeedReadings], t: Thresholds) -> int | None:
    """The first reading that is clearly above lets D2 pass; for it to fire both must be clear."""
    counts, passing = [], []
    shares = [seed.error_share for seed in seeds if seed.error_share is not None]
    for values, floor in (
        ([seed.gradient for seed in seeds], t.gradient),
        (shares, t.error_share),
    ):
        rate = t.error_rate / DIAGNOSTICS
        more = seeds_to_settle(values, floor, rate, log=True)
        counts.append(more)
        if more is not None and interval(values, rate, log=True).center >= floor:
            passing.append(more)
    if passing:
        return min(passing)
    known = [more for more in counts if more is not None]
    return max(known) if len(known) == len(counts) else None


def depth_over_seeds(
    seeds: Sequence[SeedReadings], t: Thresholds, bp_gain: float | None
) -> Diagnostic:
    """D3: the gain over the frozen baseline, paired by seed."""
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
        seeds_to_settle(gains, t.depth_gain, rate) if finding == "straddles" else None,
    )


def _shown(i: Interval) -> str:
    return f"{i.center:.3g}" + (f" [{i.low:.3g}, {i.high:.3g}]" if i.n > 1 else "")


def _points(i: Interval) -> str:
    center = f"{100 * i.center:+.1f}"
    return center + (f" [{100 * i.low:+.1f}, {100 * i.high:+.1f}]" if i.n > 1 else "")
