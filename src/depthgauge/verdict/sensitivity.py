"""Threshold sensitivity: how far each threshold may move before the verdict changes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from depthgauge.verdict.diagnostics import SeedReadings
from depthgauge.verdict.judge import Verdict, judge
from depthgauge.verdict.thresholds import Thresholds

MOVED = {
    "growth": "D1",
    "gradient": "D2",
    "error_share": "D2",
    "numerics": "D2",
    "depth_gain": "D3",
}


@dataclass(frozen=True)
class StableRange:
    """The verdict's word is the same for every value of the threshold between `low` and `high`.

    None means that there is no bound on that side.
    """

    threshold: str
    used: float
    low: float | None
    high: float | None


def sensitivity(
    seeds: Sequence[SeedReadings],
    thresholds: Thresholds | None = None,
    bp_gain: float | None = None,
) -> list[StableRange]:
    """One range for each threshold of D1, D2 and D3, the others staying as they are.

    The word can change only where a threshold crosses the end of an interval, so it is enough to
    ask once between any two neighbouring ends.
    """
    used = thresholds or Thresholds()
    now = judge(seeds, used, bp_gain)
    return [_range(name, seeds, used, bp_gain, now) for name in MOVED]


def _range(
    name: str,
    seeds: Sequence[SeedReadings],
    used: Thresholds,
    bp_gain: float | None,
    now: Verdict,
) -> StableRange:
    value = getattr(used, name)
    ends = _ends(name, now, bp_gain)
    if name == "numerics":
        ends = [seed.numerics for seed in seeds if seed.numerics is not None]
    edges = sorted({e for e in ends if 0 < e < math.inf and e != value})

    def same(low: float, high: float) -> bool:
        moved = replace(used, **{name: _between(low, high)})
        return judge(seeds, moved, bp_gain).word == now.word

    below = [0.0, *(e for e in edges if e < value), value]
    above = [value, *(e for e in edges if e > value), math.inf]
    low: float | None = value
    for start, end in reversed(list(pairwise(below))):
        if not same(start, end):
            break
        low = start
    high: float | None = value
    for start, end in pairwise(above):
        if not same(start, end):
            break
        high = end
    return StableRange(name, value, low or None, None if high == math.inf else high)


def _ends(name: str, verdict: Verdict, bp_gain: float | None) -> list[float]:
    diagnostic = next(d for d in verdict.diagnostics if d.name == MOVED[name])
    ends = [bp_gain] if name == "depth_gain" and bp_gain is not None else []
    for key, interval in diagnostic.intervals.items():
        if key == name:
            ends += [interval.low, interval.high]
    return ends


def _between(low: float, high: float) -> float:
    if high == math.inf:
        return 2 * low
    return math.sqrt(low) * math.sqrt(high) if low > 0 else high / 2
