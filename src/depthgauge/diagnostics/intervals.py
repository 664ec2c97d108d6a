"""Intervals over seeds."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

MOST_SEEDS = 200
"""The most additional seeds that `seeds_to_settle` tries."""

WIDEST_FACTOR = 1e4
"""The largest factor between the ends of an informative interval, for positive quantities."""

WIDEST_SHARE = 1.0
"""The largest width of an informative interval, for shares and cosines: 100 points."""


@dataclass(frozen=True)
class Interval:
    """Student's t interval of the mean of n readings; with one reading, both ends equal it."""

    low: float
    center: float
    high: float
    n: int

    @property
    def is_point(self) -> bool:
        """Return whether the interval is a single reading."""
        return self.n == 1 and self.low == self.high

    def is_wider_than(self, widest: float, log: bool = False) -> bool:
        """Return whether the interval is wider than `widest`.

        The width is the difference between the ends or, with `log`, the factor between them. A
        single reading is never too wide.

        With `log`, an end at zero or infinity comes from dead or diverged seeds, so only the other
        end counts. An interval whose center is zero or infinite is then never too wide.
        """
        if self.is_point:
            return False
        if not log:
            return self.high - self.low > widest
        if not 0 < self.center < math.inf:
            return False
        upper, lower = self.high / self.center, self.center / self.low if self.low else math.inf
        return min(upper, lower) > math.sqrt(widest)


def interval(values: Sequence[float], error_rate: float, log: bool = False) -> Interval:
    """Return Student's interval of the mean: mean ± t(1 − error_rate/2, n − 1)·s/√n.

    n is the number of values, s their standard deviation, and t the quantile of Student's t.

    With `log`, the interval is computed from logarithms. Readings of zero or infinity have no
    logarithm. The interval is then computed from the other readings and extended to zero or
    infinity. So a dead seed does not hide what the other seeds agree on, does not count as healthy,
    and adds no confidence. If only one other reading is left, the spread is unknown, and the
    interval reaches from zero to infinity.
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


def interval_with_noise(
    values: Sequence[float], noise: Sequence[float], error_rate: float
) -> Interval:
    """Return the interval of a mean over seeds that share their evaluation samples.

    `noise` is, for each reading, the standard error from the choice of samples. The variance of the
    mean of n readings with variance s² is s²/n plus the mean square of the noise. More seeds do not
    reduce the noise, because all seeds share the samples. The degrees of freedom are
    Satterthwaite's. The interval is never narrower than the interval over seeds alone.
    """
    center, n = statistics.fmean(values), len(values)
    over_seeds = statistics.variance(values) / n if n > 1 else 0.0
    over_samples = statistics.fmean(error**2 for error in noise)
    total = over_seeds + over_samples
    freedom = total**2 / (over_seeds**2 / (n - 1)) if over_seeds else math.inf
    alone = _of_mean(values, error_rate)
    half = max(quantile(error_rate, freedom) * math.sqrt(total), alone.high - alone.center)
    return Interval(center - half, center, center + half, n)


def _half_width(spread: float, n: int, error_rate: float) -> float:
    return quantile(error_rate, n - 1) * spread / math.sqrt(n)


@cache
def quantile(error_rate: float, freedom: float) -> float:
    """Return the two-sided quantile of Student's t with `freedom` degrees of freedom.

    With infinite freedom, the quantile is that of the normal distribution.

    scipy is imported here, and not at the top, because its import takes half a second and `--help`
    imports this module. Importing `scipy.stats` would take a second.
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
    """Estimate how many more seeds like these move the interval to one side of the threshold.

    Return None with fewer than two seeds, or if more than `MOST_SEEDS` are needed.
    """
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
