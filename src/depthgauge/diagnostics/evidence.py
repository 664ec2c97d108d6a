"""The evidence from which a diagnostic decides: readings by seed, thresholds and error rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from depthgauge.diagnostics.contract import Quantity, Readings, Threshold
from depthgauge.diagnostics.finding import Outcome
from depthgauge.diagnostics.intervals import Interval, interval, seeds_to_settle


@dataclass(frozen=True)
class RuleEvidence:
    """The readings of one rule's networks, one network for each seed, and their thresholds.

    Attributes:
        seeds: the readings of each network, by name. A reading that was not taken is None or
            missing.
        limits: the value of each threshold, by name.
        error_rate: the probability that one interval misses the true mean.
        bp_gain: the accuracy that backpropagation gains from depth on the same task, as a share;
            None if it is not known.
    """

    seeds: Sequence[Readings]
    limits: Mapping[str, float]
    error_rate: float
    bp_gain: float | None = None

    def values(self, quantity: Quantity) -> list[float]:
        """Return the readings of this quantity, from the seeds that have it."""
        readings = [seed.get(quantity.name) for seed in self.seeds]
        return [value for value in readings if value is not None]

    def interval(self, quantity: Quantity) -> Interval | None:
        """Return the quantity's interval over the seeds that have it; None if no seed has it."""
        values = self.values(quantity)
        return interval(values, self.error_rate, quantity.log) if values else None

    def limit(self, threshold: Threshold) -> float:
        """Return the value of this threshold."""
        return self.limits[threshold.name]

    def outcome(self, interval: Interval, threshold: Threshold) -> Outcome:
        """Return "fires" if the whole interval is bad, "passes" if it is good, else "straddles".

        A reading that equals the threshold is good.
        """
        limit = self.limit(threshold)
        if threshold.fires == "above":
            is_bad, is_good = interval.low > limit, interval.high <= limit
        else:
            is_bad, is_good = interval.high < limit, interval.low >= limit
        return "fires" if is_bad else "passes" if is_good else "straddles"

    def seeds_to_settle(self, threshold: Threshold) -> int | None:
        """Estimate how many more seeds would move the interval to one side of the threshold."""
        quantity = threshold.quantity
        values, limit = self.values(quantity), self.limit(threshold)
        return seeds_to_settle(values, limit, self.error_rate, quantity.log)
