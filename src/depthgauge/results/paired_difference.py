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
    """The difference of one quantity between two rules or studies, paired by seed.

    The two are called `first` and `other`. The difference is `other` minus `first`.

    Attributes:
        of: the quantity: `accuracy`; `frozen`, the accuracy with frozen blocks; `gain`, accuracy
            minus frozen; or the accuracy with the last k blocks trained, such as `k = 2`.
        n: the number of common seeds, which both rules or studies have.
        first, other: the mean of this rule or study over the common seeds, or over all its seeds if
            none is common.
        mean: the mean of the differences; None without a common seed.
        low, high: the ends of the 95 % interval of the mean difference, by Student's t; None with
            fewer than two common seeds.
        excludes_zero: whether the interval excludes zero; None without an interval.
        identical: whether both have the same value at every common seed; False without one.
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
    """Return the difference of a quantity between two rules or studies.

    `of` is the name of the quantity. `first` and `other` have its values by seed. Each must have at
    least one value.
    """
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
