"""What changes from one to another, paired by seed."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from depthgauge.diagnostics.intervals import interval

ERROR_RATE = 0.05

DIGITS = 12
"""Of a difference: what is beyond them is rounding, and would pass for a finding."""


@dataclass(frozen=True)
class Difference:
    """The second less the first, of one measured quantity.

    Attributes:
        of: what was measured: accuracy, frozen, gain, or a rung of the ladder such as `k = 2`.
        n: how many seeds are common.
        first, other: means over the common seeds; over all seeds where none is common.
        mean: of the differences, None where no seed is common.
        low, high: 95 % interval of that mean, Student's t; None with fewer than two common seeds.
        excludes_zero: whether the interval does; None without one.
        identical: whether nothing has changed for any common seed.
        reading: what may be said of it, in few words.
        by_seed: the differences, for the common seeds.
    """

    of: str
    n: int
    first: float
    other: float
    mean: float | None
    low: float | None
    high: float | None
    excludes_zero: bool | None
    identical: bool
    reading: str
    by_seed: Mapping[int, float]


def paired_difference(
    of: str, first: Mapping[int, float], other: Mapping[int, float]
) -> Difference:
    """Return the difference of what was measured for each seed; both have at least one."""
    common = sorted(first.keys() & other.keys())
    by_seed = {seed: round(other[seed] - first[seed], DIGITS) for seed in common}
    values = list(by_seed.values())
    ends = interval(values, ERROR_RATE) if len(values) > 1 else None
    excludes_zero = None if ends is None else ends.low > 0 or ends.high < 0
    identical = bool(values) and not any(values)
    return Difference(
        of=of,
        n=len(values),
        first=statistics.fmean(first[seed] for seed in common or first),
        other=statistics.fmean(other[seed] for seed in common or other),
        mean=statistics.fmean(values) if values else None,
        low=None if ends is None else ends.low,
        high=None if ends is None else ends.high,
        excludes_zero=excludes_zero,
        identical=identical,
        reading=_reading(len(values), identical, excludes_zero),
        by_seed=by_seed,
    )


def _reading(n: int, identical: bool, excludes_zero: bool | None) -> str:
    if not n:
        return "no common seed"
    if excludes_zero is None:
        return "single seed"
    if identical:
        return "identical"
    return "excludes zero" if excludes_zero else "includes zero"
