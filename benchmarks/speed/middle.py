"""A figure with its spread."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Middle:
    """The median of some measurements, the least and the greatest; formatted as all three."""

    median: float
    least: float
    greatest: float

    @staticmethod
    def of(values: Sequence[float]) -> Middle:
        """What they come to."""
        return Middle(statistics.median(values), min(values), max(values))

    def __format__(self, spec: str) -> str:
        return f"{self.median:{spec}} ({self.least:{spec}} … {self.greatest:{spec}})"
