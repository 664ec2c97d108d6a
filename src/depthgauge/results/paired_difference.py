"""The difference between two rules or studies, paired by seed."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from depthgauge.diagnostics.intervals import interval

ERROR_RATE = 0.05

DIGITS = 12
"""Differences are rounded to this many decimals, so that rounding errors do not count."""


@dataclass(frozen=True)
class Difference:
    """The difference of one measured quantity, `other` minus `first`, paired by seed.

    Attributes:
        of: the quantity: accuracy, frozen, gain, or a rung of the ladder such as `k = 2`.
        n: the number of common seeds.
        first, other: the means over the common seeds, or over all seeds if none is common.
        mean: the mean of the differences; None without a common seed.
        low, high: the 95 % interval of that mean (Student's t); None with fewer than two common
            seeds.
        excludes_zero: whether the interval excludes zero; None without an interval.
        identical: whether the values of all common seeds are equal.
        reading: the result in a few words.
        by_seed: the difference of each common seed.
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
    """Return the difference of a quantity, given its values by seed; neither mapping is empty."""
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
