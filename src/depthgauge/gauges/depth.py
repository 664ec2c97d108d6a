"""D3, depth utility: what training the blocks is worth in accuracy."""

from __future__ import annotations

import math
from dataclasses import dataclass

from depthgauge.gauges.reading import Reading

DIGITS = 12
"""Digits of a difference that count: 0.36 − 0.34 is 0.02, whatever floating point makes of it."""


@dataclass(frozen=True)
class DepthReading(Reading):
    """`value` is accuracy − frozen accuracy of the same rule and seed.

    `bp_gain` is what backpropagation gains from depth on the same task, None if not known. `noise`
    is the standard error of the value that comes from the choice of evaluation samples, as of two
    independent accuracies; None where it is not known how many samples there are.
    """

    accuracy: float | None = None
    frozen: float | None = None
    bp_gain: float | None = None
    noise: float | None = None


def noise_of_gain(accuracy: float, frozen: float, samples: int) -> float:
    """Return the standard error of a difference of accuracies on so many evaluation samples."""
    return math.sqrt((accuracy * (1 - accuracy) + frozen * (1 - frozen)) / samples)


def read_depth(
    accuracy: float | None,
    frozen: float | None,
    bp_gain: float | None = None,
    measured_on: str = "as given",
    samples: int | None = None,
) -> DepthReading:
    """The gain over the frozen baseline, where both accuracies are known."""
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
