"""D3, depth utility: how much accuracy a rule gains by training the blocks."""

from __future__ import annotations

import math
from dataclasses import dataclass

from depthgauge.gauges.reading import Reading

DIGITS = 12
"""Decimal digits kept of a difference, so that 0.36 − 0.34 is exactly 0.02."""


@dataclass(frozen=True)
class DepthReading(Reading):
    """The gain of training the blocks: `value` is `accuracy` − `frozen`.

    Both accuracies are of the same rule with the same seed.

    Attributes:
        accuracy: the accuracy with all blocks trained.
        frozen: the accuracy with all blocks frozen at initialisation.
        bp_gain: the gain of backpropagation on the same task; None if unknown.
        noise: the standard error of `value` due to the choice of evaluation samples, computed as
            for two independent accuracies; None if the number of samples is unknown.
    """

    accuracy: float | None = None
    frozen: float | None = None
    bp_gain: float | None = None
    noise: float | None = None


def noise_of_gain(accuracy: float, frozen: float, samples: int) -> float:
    """Return the standard error of accuracy − frozen on this number of evaluation samples."""
    return math.sqrt((accuracy * (1 - accuracy) + frozen * (1 - frozen)) / samples)


def read_depth(
    accuracy: float | None,
    frozen: float | None,
    bp_gain: float | None = None,
    measured_on: str = "as given",
    samples: int | None = None,
) -> DepthReading:
    """Return the reading of two accuracies; its `value` is None if an accuracy is unknown."""
    gain = noise = None
    if accuracy is not None and frozen is not None:
        gain = round(accuracy - frozen, DIGITS)
        noise = noise_of_gain(accuracy, frozen, samples) if samples else None
    return DepthReading(
        name="D3 depth utility",
        value=gain,
        per_layer=(),
        unit="difference of accuracies",
        convention="all blocks trained, less all blocks frozen at initialisation; same rule, seed",
        measured_on=f"accuracy: {measured_on}; frozen baseline: as given",
        note="" if gain is not None else "not measured: an accuracy is not known",
        accuracy=accuracy,
        frozen=frozen,
        bp_gain=bp_gain,
        noise=noise,
    )
