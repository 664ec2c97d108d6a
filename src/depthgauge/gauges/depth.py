"""D3, depth utility: what training the blocks is worth in accuracy."""

from __future__ import annotations

from dataclasses import dataclass

from depthgauge.gauges.reading import Reading


@dataclass(frozen=True)
class DepthReading(Reading):
    """`value` is accuracy − frozen accuracy of the same rule and seed.

    `bp_gain` is what backpropagation gains from depth on the same task, None if not known.
    """

    accuracy: float | None = None
    frozen: float | None = None
    bp_gain: float | None = None


def read_depth(
    accuracy: float | None, frozen: float | None, bp_gain: float | None = None
) -> DepthReading:
    """The gain over the frozen baseline, where there is one."""
    known = accuracy is not None and frozen is not None
    return DepthReading(
        name="D3 depth utility",
        value=accuracy - frozen if accuracy is not None and frozen is not None else None,
        per_layer=(),
        unit="difference of accuracies",
        convention="all blocks trained, less all blocks frozen at initialisation; same rule, seed",
        measured_on="the accuracies that were given",
        note="" if known else "not measured: the frozen baseline is not known",
        accuracy=accuracy,
        frozen=frozen,
        bp_gain=bp_gain,
    )
