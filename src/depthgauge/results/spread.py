"""Mean and spread over seeds."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from typing_extensions import Self


@dataclass(frozen=True)
class Spread:
    """The mean, sample standard deviation (ddof 1) and number of some values.

    Without a value the mean is None. With fewer than two values the standard deviation is None.
    """

    mean: float | None
    std: float | None
    n: int

    @classmethod
    def of(cls, values: Iterable[float | None]) -> Self:
        """Return the spread of the values that are not None."""
        known = [value for value in values if value is not None]
        return cls(
            mean=statistics.fmean(known) if known else None,
            std=statistics.stdev(known) if len(known) > 1 else None,
            n=len(known),
        )
