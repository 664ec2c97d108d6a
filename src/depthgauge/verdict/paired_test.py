"""One-sided tests of the difference of two accuracies, paired by seed.

The error of the difference comes from the seeds and from the choice of evaluation samples.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

Right = NDArray[Any]
"""For each evaluation sample, whether a network is right, or the sample's score as a number."""

LEAST_SEEDS = 2
NOTHING = 1e-12
"""Differences of accuracies below this count as rounding errors."""


@dataclass(frozen=True)
class Scores:
    """The accuracies of one configuration, by seed.

    Attributes:
        accuracies: the share of samples on which each seed's network is right.
        right: for each sample whether the network is right, by seed. Seeds for which this is not
            known are missing.
        samples: the number of evaluation samples. If it is None, the error of a comparison does
            not include the noise that comes from the choice of samples.
    """

    accuracies: Mapping[int, float]
    right: Mapping[int, Right] = field(default_factory=dict)
    samples: int | None = None


class Comparison(NamedTuple):
    """The mean difference of two accuracies, paired by seed, and its error.

    Attributes:
        mean: the mean over the common seeds; None without a common seed.
        least: the smallest difference among the common seeds.
        error: the standard error of the mean; None with fewer than two seeds.
        freedom: the degrees of freedom of the error.
    """

    mean: float | None = None
    least: float | None = None
    error: float | None = None
    freedom: float = math.inf

    def p_above(self, margin: float = 0.0) -> float:
        """Return the p-value of "the difference is more than `margin`".

        If the error is zero, p is 0 if the mean is more than `margin`, and 1 otherwise. With fewer
        than two seeds p is 1.
        """
        return self._p(1, margin)

    def p_below(self, margin: float = 0.0) -> float:
        """Return the p-value of "the difference is less than `margin`"."""
        return self._p(-1, margin)

    def _p(self, sign: int, margin: float) -> float:
        if self.mean is None or self.error is None:
            return 1.0
        beyond = sign * (self.mean - margin)
        if self.error < NOTHING:
            return 0.0 if beyond > NOTHING else 1.0
        return float(stdtr(self.freedom, -beyond / self.error))


def compare(one: Scores, other: Scores) -> Comparison:
    """Return the difference of `one` minus `other`, and its error.

    The variance of the mean difference is s²/n + v/M. s² is the variance over the n seeds, and v
    the variance over the M evaluation samples, which all seeds share. The degrees of freedom are
    computed by Satterthwaite's formula.
    """
    mine, others = one.accuracies, other.accuracies
    seeds = [seed for seed in mine if seed in others]
    n = len(seeds)
    if not n:
        return Comparison()
    differences = [mine[seed] - others[seed] for seed in seeds]
    mean, least = math.fsum(differences) / n, min(differences)
    if n < LEAST_SEEDS:
        return Comparison(mean, least)
    over_seeds = math.fsum([(each - mean) ** 2 for each in differences]) / (n - 1) / n
    over_samples, samples = _over_samples(one, other, seeds)
    total = over_seeds + over_samples
    if total < NOTHING**2:
        return Comparison(mean, least, 0.0)
    freedom = total**2 / (over_seeds**2 / (n - 1) + over_samples**2 / max(samples - 1, 1))
    return Comparison(mean, least, math.sqrt(total), freedom)


def _over_samples(one: Scores, other: Scores, seeds: Sequence[int]) -> tuple[float, int]:
    """Return the variance that the choice of samples adds, and the number of samples."""
    if one.right and all(seed in one.right and seed in other.right for seed in seeds):
        first, second = ([scores.right[seed] for seed in seeds] for scores in (one, other))
        mean = np.mean(first, axis=0) - np.mean(second, axis=0)
        return float(mean.var(ddof=1)) / len(mean), len(mean)
    samples = one.samples or other.samples
    if samples is None:
        return 0.0, 1
    means = [
        math.fsum(scores.accuracies[seed] for seed in seeds) / len(seeds) for scores in (one, other)
    ]
    return sum(mean * (1 - mean) for mean in means) / samples, samples


def holm(p_values: Sequence[float], error_rate: float) -> list[bool]:
    """Return for each p-value whether its statement holds, by Holm's method.

    `error_rate` is the error rate of all statements together.
    """
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    holds = [False] * len(p_values)
    for rank, place in enumerate(order):
        if p_values[place] > error_rate / (len(p_values) - rank):
            break
        holds[place] = True
    return holds
