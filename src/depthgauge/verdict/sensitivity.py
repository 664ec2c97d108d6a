"""Threshold sensitivity: how far each threshold may move before the verdict changes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from depthgauge.diagnostics.contract import Readings, Threshold
from depthgauge.diagnostics.registry import verdict_diagnostics
from depthgauge.diagnostics.used_depth import UsedDepth
from depthgauge.verdict.judge import Protocol, Verdict, judge
from depthgauge.verdict.thresholds import Thresholds


@dataclass(frozen=True)
class StableRange:
    """The range of a threshold in which the verdict keeps its word; None means no bound."""

    threshold: str
    used: float
    low: float | None
    high: float | None


def sensitivity(
    seeds: Sequence[Readings],
    thresholds: Thresholds | None = None,
    bp_gain: float | None = None,
    *,
    used_depth: UsedDepth | None = None,
    protocol: Protocol = "depthgauge",
) -> list[StableRange]:
    """Return the stable range of each threshold, while the other thresholds keep their values.

    The word can change only where a threshold crosses the end of an interval, or the gain of
    backpropagation. Between two such points the word stays the same, so one verdict between each
    two neighbouring points is enough.
    """
    used = thresholds or Thresholds()
    moved = [
        threshold for diagnostic in verdict_diagnostics() for threshold in diagnostic.thresholds
    ]

    def verdict(thresholds: Thresholds) -> Verdict:
        return judge(seeds, thresholds, bp_gain, used_depth=used_depth, protocol=protocol)

    return [_range(threshold, seeds, used, bp_gain, verdict) for threshold in moved]


def _range(
    threshold: Threshold,
    seeds: Sequence[Readings],
    used: Thresholds,
    bp_gain: float | None,
    verdict: Callable[[Thresholds], Verdict],
) -> StableRange:
    name, value, now = threshold.name, used[threshold.name], verdict(used)
    ends = _ends(threshold, seeds, now)
    edges = sorted({e for e in (*ends, bp_gain) if e is not None and 0 < e < math.inf} - {value})

    def same(low: float, high: float) -> bool:
        moved = used.replace(**{name: _between(low, high)})
        return verdict(moved).word == now.word

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


def _ends(threshold: Threshold, seeds: Sequence[Readings], verdict: Verdict) -> list[float | None]:
    """Return the ends of the interval that a threshold judges, or else the reading of each seed."""
    name = threshold.quantity.name
    for finding in verdict.findings:
        if name in finding.intervals:
            return [finding.intervals[name].low, finding.intervals[name].high]
    return [seed.get(name) for seed in seeds]


def _between(low: float, high: float) -> float:
    """Return a value between `low`, which may be 0, and `high`, which may be infinite."""
    if high == math.inf:
        return 2 * low
    return math.sqrt(low) * math.sqrt(high) if low > 0 else high / 2
