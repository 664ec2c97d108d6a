"""What a diagnostic decides by: the readings of every seed, the thresholds, the error rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from depthgauge.diagnostics.contract import Quantity, Readings, Threshold
from depthgauge.diagnostics.finding import Outcome
from depthgauge.diagnostics.intervals import Interval, interval, seeds_to_settle


@dataclass(frozen=True)
class Case:
    """The networks of one rule, one for each seed, and what they are held to.

    Attributes:
        seeds: the readings of each network by name; one that is missing or None was not read.
        limits: the thresholds by name.
        error_rate: of one interval.
        bp_gain: what backpropagation gains from depth on the same task; None if not known.
    """

    seeds: Sequence[Readings]
    limits: Mapping[str, float]
    error_rate: float
    bp_gain: float | None = None

    def values(self, quantity: Quantity) -> list[float]:
        """Return the reading of every seed that has it."""
        found = [seed.get(quantity.name) for seed in self.seeds]
        return [value for value in found if value is not None]

    def interval(self, quantity: Quantity) -> Interval | None:
        """Return the interval over the seeds that have the reading; None if no seed has."""
        values = self.values(quantity)
        return interval(values, self.error_rate, quantity.log) if values else None

    def limit(self, threshold: Threshold) -> float:
        """Return the value that the threshold has here."""
        return self.limits[threshold.name]

    def side(self, found: Interval, threshold: Threshold) -> Outcome:
        """Say whether the whole interval is on the bad side, on the good one, or on neither.

        A reading at its threshold is good.
        """
        limit = self.limit(threshold)
        if threshold.fires == "above":
            bad, good = found.low > limit, found.high <= limit
        else:
            bad, good = found.is_below(limit), found.is_above(limit)
        return "fires" if bad else "passes" if good else "straddles"

    def seeds_to_settle(self, threshold: Threshold) -> int | None:
        """Return how many more seeds like these would clear the threshold."""
        quantity = threshold.quantity
        values, limit = self.values(quantity), self.limit(threshold)
        return seeds_to_settle(values, limit, self.error_rate, quantity.log)
