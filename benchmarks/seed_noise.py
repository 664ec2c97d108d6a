"""Compare two ways of training the same runs: do the accuracies agree within the noise of seeds?"""

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

    The ways agree within seed noise if the mean difference, paired by seed, is at most the standard
    deviation over seeds: then another way changes the accuracy by no more than another seed does.
    Unlike an interval, this measure does not get wider with fewer seeds. Without any spread only
    equal accuracies agree.
    """

    rule: str
    k: int
    first: Mapping[int, float]
    other: Mapping[int, float]

    @property
    def change(self) -> Difference:
        """Return the difference of the other way minus the first."""
        return paired_difference(f"k = {self.k}", self.first, self.other)

    @property
    def ends(self) -> tuple[float, float]:
        """Return the ends of the 95 % interval of the difference; it needs two seeds."""
        change = self.change
        if change.low is None or change.high is None:
            raise SystemExit("one seed has no interval; give at least two with --seeds")
        return change.low, change.high

    @property
    def seed_noise(self) -> float:
        """Return the standard deviation over seeds: the root mean square of both ways."""
        variances = [statistics.variance(way.values()) for way in (self.first, self.other)]
        return math.sqrt(statistics.fmean(variances))

    @property
    def agrees(self) -> bool:
        """Return whether the ways agree within seed noise."""
        return self.change.mean is not None and abs(self.change.mean) <= self.seed_noise

    def told_apart(self, comparisons: int) -> bool:
        """Return whether the interval excludes zero, corrected for so many comparisons."""
        corrected = interval(list(self.change.by_seed.values()), ERROR_RATE / comparisons)
        return corrected.low > 0 or corrected.high < 0

    def to_dict(self, comparisons: int) -> dict[str, Any]:
        """Return the rung for a JSON document."""
        return {
            "rule": self.rule,
            "k": self.k,
            "cohort": dict(self.first),
            "plain": dict(self.other),
            "mean_difference": self.change.mean,
            "interval": self.ends,
            "largest_difference": max(map(abs, self.change.by_seed.values())),
            "seed_noise": self.seed_noise,
            "agrees": self.agrees,
            "told_apart": self.told_apart(comparisons),
        }


def over_all(rungs: Sequence[Rung]) -> Rung:
    """Return the mean over all rungs for each seed, in which noise averages out."""
    first, other = (
        {seed: statistics.fmean(way[seed] for way in ways) for seed in ways[0]}
        for ways in ([rung.first for rung in rungs], [rung.other for rung in rungs])
    )
    return Rung("all", 0, first, other)


def by_chance(seeds: int) -> float:
    """Return how often a rung would not agree if one seed's two runs were independent draws.

    The two runs share the initialisation, so that chance does less than that.
    """
    return float(2 * stats.t.sf(math.sqrt(seeds / 2), 2 * (seeds - 1)))
