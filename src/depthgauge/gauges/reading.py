"""A reading: the number that a gauge returns, with everything needed to understand it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from depthgauge.nets.batch_view import BatchView


@dataclass(frozen=True)
class Reading:
    """A number that a gauge read off a network.

    Attributes:
        name: what was measured.
        value: the number for the whole network; None where it is undefined (`note` says why).
        per_layer: the number at each layer; None where it is undefined.
        unit: the unit of `value` and `per_layer`.
        convention: how the number was measured, if there is more than one way.
        measured_on: the samples it was measured on, and their number.
        note: a remark or a warning; "" if there is none.
    """

    name: str
    value: float | None
    per_layer: tuple[float | None, ...]
    unit: str
    convention: str
    measured_on: str
    note: str = ""


class BatchConsumer(Protocol):
    """An object that reads one batch after the other and keeps only what it needs of each batch."""

    def see(self, batch: BatchView) -> None:
        """Take what is needed from a batch."""
        ...


class Gauge(BatchConsumer, Protocol):
    """An object that reads batches and makes one reading of all of them."""

    def reading(self) -> Reading:
        """Return the reading over all batches seen so far."""
        ...


class SampleCount:
    """The number of samples and batches that a gauge has seen, as text for `measured_on`."""

    def __init__(self) -> None:
        self.samples, self.batches = 0, 0

    def add(self, batch: BatchView) -> None:
        """Count one more batch."""
        self.samples += len(batch)
        self.batches += 1

    def __str__(self) -> str:
        batches = "1 batch" if self.batches == 1 else f"{self.batches} batches"
        return f"{self.samples:,} samples in {batches}"


def none_if_nan(value: float) -> float | None:
    """Return the value, or None if the value is NaN."""
    return None if math.isnan(value) else value
