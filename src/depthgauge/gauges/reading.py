"""What a gauge returns: a number with everything needed to understand it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from depthgauge.nets.batch_view import BatchView


@dataclass(frozen=True)
class Reading:
    """A reading of a network.

    Attributes:
        name: what was read.
        value: the one number it comes to; None where it is undefined, and `note` says why.
        per_layer: its value at each layer, None where undefined there.
        unit: of the value.
        convention: how it was measured, as far as there is a choice.
        measured_on: which and how many samples.
        note: what a reader should know besides.
    """

    name: str
    value: float | None
    per_layer: tuple[float | None, ...]
    unit: str
    convention: str
    measured_on: str
    note: str = ""


class BatchConsumer(Protocol):
    """BatchConsumer one batch after the other and keeps only what it needs of each."""

    def see(self, batch: BatchView) -> None:
        """Take in a batch."""
        ...


class Gauge(BatchConsumer, Protocol):
    """Has a reading of what it has seen."""

    def reading(self) -> Reading:
        """What all batches so far come to."""
        ...


class SampleCount:
    """Counts what a gauge has seen, for `measured_on`."""

    def __init__(self) -> None:
        self.samples, self.batches = 0, 0

    def add(self, batch: BatchView) -> None:
        """One more batch."""
        self.samples += len(batch)
        self.batches += 1

    def __str__(self) -> str:
        batches = "1 batch" if self.batches == 1 else f"{self.batches} batches"
        return f"{self.samples:,} samples in {batches}"


def defined(value: float) -> float | None:
    """The value, or None where it is not a number."""
    return None if math.isnan(value) else value
