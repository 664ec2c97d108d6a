"""Paired, one-sided tests between accuracies: over seeds, and over evaluation samples."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

Right = NDArray[np.bool_]
"""For each evaluation sample, whether a network names it rightly."""

LEAST_SEEDS = 2
NOTHING = 1e-12
"""Differences of accuracies below this are rounding, not a difference."""


@dataclass(frozen=True)
class Scores:
    """The accuracies of one configuration, by seed.

    Attributes:
        accuracies: the share of samples that each seed's network names rightly.
        right: the same sample by sample, for the seeds that have it.
        samples: how many samples there are; None leaves the noise of the evaluation set out.
    """

    accuracies: Mapping[int, float]
    right: Mapping[int, Right] = field(default_factory=dict)
    samples: int | None = None

    def seeds_with(self, other: Scores) -> list[int]:
        """Return the seeds that both have."""
        return [seed for seed in self.accuracies if seed in other.accuracies]

    def differences(self, other: Scores) -> list[float]:
        """Return what this one has more than the other, seed by seed."""
        mine, others = self.accuracies, other.accuracies
        return [mine[seed] - others[seed] for seed in self.seeds_with(other)]

    def mean_difference(self, other: Scores) -> float | None:
        """Return the mean over the seeds that both have; None where there is none."""
        found = self.differences(other)
        return math.fsum(found) / len(found) if found else None


def p_greater(one: Scores, other: Scores, margin: float = 0.0) -> float:
    """Return the p-value of "`one` is more than `margin` above `other`".

    The variance of the mean difference has two parts: s²/n over n seeds, and v/M over M evaluation
    samples, which all seeds share. The degrees of freedom are Satterthwaite's. Without any variance
    the numbers speak for themselves: 0 or 1. With fewer than two seeds nothing is shown: 1.
    """
    seeds = one.seeds_with(other)
    n = len(seeds)
    if n < LEAST_SEEDS:
        return 1.0
    above = [difference - margin for difference in one.differences(other)]
    mean = math.fsum(above) / n
    over_seeds = math.fsum((value - mean) ** 2 for value in above) / (n - 1) / n
    over_samples, samples = _over_samples(one, other, seeds)
    total = over_seeds + over_samples
    if total < NOTHING**2:
        return 0.0 if mean > NOTHING else 1.0
    freedom = total**2 / (over_seeds**2 / (n - 1) + over_samples**2 / max(samples - 1, 1))
    return float(stdtr(freedom, -mean / math.sqrt(total)))


def _over_samples(one: Scores, other: Scores, seeds: Sequence[int]) -> tuple[float, int]:
    """Return the variance that the choice of evaluation samples adds, and how many there are."""
    if all(seed in one.right and seed in other.right for seed in seeds):
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
    """Say which statements hold together at `error_rate`, by Holm's step-down method."""
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    holds = [False] * len(p_values)
    for rank, place in enumerate(order):
        if p_values[place] > error_rate / (len(p_values) - rank):
            break
        holds[place] = True
    return holds
