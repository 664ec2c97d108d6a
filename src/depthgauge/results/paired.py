"""What changes from one to another, paired by seed."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from depthgauge.diagnostics.intervals import Interval, interval

ERROR_RATE = 0.05

DIGITS = 12
"""Of a difference: what is beyond them is rounding, and would pass for a finding."""


@dataclass(frozen=True)
class Difference:
    """The second less the first, of one measured quantity.

    Attributes:
        of: what was measured: accuracy, frozen, gain, or a rung of the ladder such as `k = 2`.
        first, other: means over the common seeds; over all seeds where none is common.
        by_seed: the differences, for the common seeds.
        mean: of the differences, None where no seed is common.
        interval: of that mean, 95 %, Student's t; None with fewer than two common seeds.
    """

    of: str
    first: float
    other: float
    by_seed: Mapping[int, float]
    mean: float | None
    interval: Interval | None

    @property
    def excludes_zero(self) -> bool | None:
        """Whether the interval does; None without one."""
        if self.interval is None:
            return None
        return self.interval.low > 0 or self.interval.high < 0

    @property
    def identical(self) -> bool:
        """Whether nothing has changed for any common seed."""
        return bool(self.by_seed) and not any(self.by_seed.values())

    @property
    def reading(self) -> str:
        """What may be said of it, in few words."""
        if not self.by_seed:
            return "no common seed"
        if self.interval is None:
            return "single seed"
        if self.identical:
            return "identical"
        return "excludes zero" if self.excludes_zero else "includes zero"

    def as_dict(self) -> dict[str, Any]:
        """For a JSON document."""
        return {
            "of": self.of,
            "n": len(self.by_seed),
            "first": self.first,
            "other": self.other,
            "mean": self.mean,
            "low": None if self.interval is None else self.interval.low,
            "high": None if self.interval is None else self.interval.high,
            "excludes_zero": self.excludes_zero,
            "identical": self.identical,
            "reading": self.reading,
            "by_seed": {str(seed): value for seed, value in self.by_seed.items()},
        }


def paired(of: str, first: Mapping[int, float], other: Mapping[int, float]) -> Difference:
    """The difference of what was measured for each seed; both have at least one."""
    common = sorted(first.keys() & other.keys())
    by_seed = {seed: round(other[seed] - first[seed], DIGITS) for seed in common}
    values = list(by_seed.values())
    return Difference(
        of=of,
        first=statistics.fmean(first[seed] for seed in common or first),
        other=statistics.fmean(other[seed] for seed in common or other),
        by_seed=by_seed,
        mean=statistics.fmean(values) if values else None,
        interval=interval(values, ERROR_RATE) if len(values) > 1 else None,
    )
