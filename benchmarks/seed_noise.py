"""Whether two ways to train the same runs come to the same figure, within the noise of seeds."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scipy import stats

from depthgauge.diagnostics.intervals import interval
from depthgauge.results.paired_difference import ERROR_RATE, Difference, paired_difference


@dataclass(frozen=True)
class Rung:
    """The accuracies of one rule and k by seed, trained in two ways.

    They agree within seed noise if the mean difference, paired by seed, is at most the standard
    deviation over seeds. To change the way then moves the figure by no more than to change the seed
    moves a run. The measure does not get wider with fewer seeds, as an interval does. Without any
    spread only equal figures agree.
    """

    rule: str
    k: int
    first: Mapping[int, float]
    other: Mapping[int, float]

    @property
    def change(self) -> Difference:
        """The other less the first."""
        return paired_difference(f"k = {self.k}", self.first, self.other)

    @property
    def seed_noise(self) -> float:
        """The standard deviation over seeds: root mean square of that of both ways."""
        variances = [statistics.variance(way.values()) for way in (self.first, self.other)]
        return math.sqrt(statistics.fmean(variances))

    @property
    def agrees(self) -> bool:
        """Within seed noise."""
        return self.change.mean is not None and abs(self.change.mean) <= self.seed_noise

    def told_apart(self, comparisons: int) -> bool:
        """Whether the interval excludes zero, corrected for so many comparisons (Bonferroni)."""
        corrected = interval(list(self.change.by_seed.values()), ERROR_RATE / comparisons)
        return corrected.low > 0 or corrected.high < 0

    def to_dict(self, comparisons: int) -> dict[str, Any]:
        """For a JSON document."""
        return {
            "rule": self.rule,
            "k": self.k,
            "cohort": dict(self.first),
            "plain": dict(self.other),
            "mean_difference": self.change.mean,
            "interval": ends(self.change),
            "largest_difference": max(map(abs, self.change.by_seed.values())),
            "seed_noise": self.seed_noise,
            "agrees": self.agrees,
            "told_apart": self.told_apart(comparisons),
        }


def ends(change: Difference) -> tuple[float, float]:
    """The interval of a difference of two seeds or more."""
    if change.interval is None:
        raise ValueError("one seed has no interval")
    return change.interval.low, change.interval.high


def over_all(rungs: Sequence[Rung]) -> Difference:
    """The difference of each seed's mean over all rungs, where noise averages out."""
    first, other = (
        {seed: statistics.fmean(way[seed] for way in ways) for seed in ways[0]}
        for ways in ([rung.first for rung in rungs], [rung.other for rung in rungs])
    )
    return paired_difference("all rungs", first, other)


def by_chance(seeds: int) -> float:
    """How often a rung would not agree if one seed's two runs were independent draws.

    Nothing that is the same in both, such as the initialisation, would then count; so it is the
    most that chance does.
    """
    return float(2 * stats.t.sf(math.sqrt(seeds / 2), 2 * (seeds - 1)))
