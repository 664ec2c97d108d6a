"""D3, depth utility: what training the blocks is worth in accuracy."""

from __future__ import annotations

from dataclasses import dataclass

from depthgauge.gauges.reading import Reading

DIGITS = 12
"""Digits of a difference that count: 0.36 − 0.34 is 0.02, whatever floating point makes of it."""


@dataclass(frozen=True)
class DepthReading(Reading):
    """`value` is accuracy − frozen accuracy of the same rule and seed.

    `bp_gain` is what backpropagation gains from depth on the same task, None if not known.
    """

    accuracy: float | None = None
    frozen: float | None = None
    bp_gain: float | None = None


def read_depth(
    accuracy: float | None,
    frozen: float | None,
    bp_gain: float | None = None,
    measured_on: str = "as given",
) -> DepthReading:
    """The gain over the frozen baseline, where both accuracies are known."""
    gain = None
    if accuracy is not None and frozen is not None:
        gain = round(accuracy - frozen, DIGITS)
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
    )
