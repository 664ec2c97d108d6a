"""A median with its range."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class MedianRange:
    """The median of some measurements, the least and the greatest; formatted as all three."""

    median: float
    least: float
    greatest: float

    @staticmethod
    def of(values: Sequence[float]) -> MedianRange:
        """Return median and range of some values."""
        return MedianRange(statistics.median(values), min(values), max(values))

    def __format__(self, spec: str) -> str:
        return f"{self.median:{spec}} ({self.least:{spec}} … {self.greatest:{spec}})"
