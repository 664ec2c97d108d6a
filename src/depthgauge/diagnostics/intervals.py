"""Intervals over seeds."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

MOST_SEEDS = 200
"""Further seeds that are looked at when it is said how many would settle a question."""


WIDEST_FACTOR = 1e4
"""An interval of a positive quantity whose ends differ by more says nothing."""

WIDEST_SHARE = 1.0
"""An interval of shares, their differences or cosines that is wider says nothing: 100 points."""

TOO_FEW_SEEDS = "[too few seeds]"
"""Stands in the place of an interval that is too wide to say anything."""


@dataclass(frozen=True)
class Interval:
    """Student's t interval of the mean of n readings; with one reading just that reading."""

    low: float
    center: float
    high: float
    n: int

    @property
    def is_point(self) -> bool:
        """Whether it is one reading without ends."""
        return self.n == 1 and self.low == self.high

    def is_wider_than(self, widest: float, log: bool = False) -> bool:
        """Its ends differ by more than this; with `log`, by a larger factor.

        An end at zero or infinity is that of dead seeds, where the other is not: then the factor
        is that of the other seeds. One seed has no ends, and dead seeds alone agree.
        """
        if self.is_point:
            return False
        if not log:
            return self.high - self.low > widest
        if not 0 < self.center < math.inf:
            return False
        upper, lower = self.high / self.center, self.center / self.low if self.low else math.inf
        return min(upper, lower) > math.sqrt(widest)

    def is_below(self, threshold: float) -> bool:
        """The whole interval is."""
        return self.high < threshold

    def is_above(self, threshold: float) -> bool:
        """The whole interval is, or touches it: what is not below passes."""
        return self.low >= threshold


def interval(values: Sequence[float], error_rate: float, log: bool = False) -> Interval:
    """Mean ± t(1 − error_rate/2, n − 1)·s/√n; with `log`, of the logarithms.

    Readings of exactly zero, or infinite ones, have no logarithm: the interval is that of the
    others, extended to them. So a dead seed neither hides what the rest agree on, nor passes for a
    healthy one, nor lends confidence. With one other seed nothing is known of the spread.
    """
    if not log or len(values) == 1:
        return _of_mean(values, error_rate)
    finite = [value for value in values if 0 < value < math.inf]
    if not finite:
        return Interval(min(values), statistics.median_low(values), max(values), len(values))
    if len(finite) == 1:
        return Interval(0.0, finite[0], math.inf, len(values))
    logs = _of_mean([math.log(value) for value in finite], error_rate)
    low = 0.0 if min(values) == 0 else _exp(logs.low)
    high = math.inf if max(values) == math.inf else _exp(logs.high)
    return Interval(low, _exp(logs.center), high, len(values))


def _of_mean(values: Sequence[float], error_rate: float) -> Interval:
    center, n = statistics.fmean(values), len(values)
    half = _half_width(statistics.stdev(values), n, error_rate) if n > 1 else 0.0
    return Interval(center - half, center, center + half, n)


def with_noise(values: Sequence[float], noise: Sequence[float], error_rate: float) -> Interval:
    """Return the interval of a mean over seeds that share their evaluation samples.

    The variance is s²/n plus the mean square of the `noise`, each reading's own standard error:
    seeds that share the samples share it, so that more seeds do not take it away. Satterthwaite's
    degrees of freedom; never narrower than the interval over seeds alone.
    """
    center, n = statistics.fmean(values), len(values)
    over_seeds = statistics.variance(values) / n if n > 1 else 0.0
    over_samples = statistics.fmean(one**2 for one in noise)
    total = over_seeds + over_samples
    freedom = total**2 / (over_seeds**2 / (n - 1)) if over_seeds else math.inf
    alone = _of_mean(values, error_rate)
    half = max(quantile(error_rate, freedom) * math.sqrt(total), alone.high - alone.center)
    return Interval(center - half, center, center + half, n)


def _half_width(spread: float, n: int, error_rate: float) -> float:
    return quantile(error_rate, n - 1) * spread / math.sqrt(n)


@cache
def quantile(error_rate: float, freedom: float) -> float:
    """Return the two-sided quantile of Student's t; at infinite freedom, of the normal.

    It is loaded when it is first needed: `--help` names the thresholds, and scipy takes half a
    second to load (`scipy.stats`, which has it too, a whole one).
    """
    from scipy.special import ndtri, stdtrit  # noqa: PLC0415

    level = 1 - error_rate / 2
    return float(ndtri(level) if freedom == math.inf else stdtrit(freedom, level))


def _exp(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def seeds_to_settle(
    values: Sequence[float], threshold: float, error_rate: float, log: bool = False
) -> int | None:
    """How many more seeds like these would clear the threshold; None if more than a lot."""
    if log:
        if not all(0 < value < math.inf for value in values):
            return None
        values = [math.log(value) for value in values]
        threshold = math.log(threshold)
    n = len(values)
    if n < 2:  # noqa: PLR2004
        return None
    distance, spread = abs(statistics.fmean(values) - threshold), statistics.stdev(values)
    for more in range(1, MOST_SEEDS + 1):
        if _half_width(spread, n + more, error_rate) < distance:
            return more
    return None
