"""The thresholds of the protocol, in one place."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields

from depthgauge.errors import UserError


@dataclass(frozen=True)
class Thresholds:
    """Where each diagnostic fires.

    Attributes:
        growth: D1 fires above this largest ratio of neighbouring medians of ‖h‖. Published
            networks: healthy at most 11, degenerate at least 694.
        gradient: D2 needs the median ‖g_L‖, per sample, below this: 1e-7 for the mean loss of a
            batch of 128. Published: healthy at least 1.0e-4, degenerate at most 4.2e-9 (both
            for a batch of 128).
        error_share: D2 also needs the median ‖g_L‖/‖e‖ below this: the error is there but does not
            come through. Without it a confident, healthy network would be flagged.
        numerics: D2 fires alone where the cosine of the measured gradient with the float64 one is
            below this.
        stability: D2s is said to be drift above this; never a verdict by itself.
        depth_gain: D3 fires below this gain in accuracy; it is not applicable where backpropagation
            itself gains less.
        error_rate: how often the three diagnostics together may be wrong over seeds.
    """

    growth: float = 50.0
    gradient: float = 1.28e-5
    error_share: float = 1.4e-5
    numerics: float = 0.99
    stability: float = 0.30
    depth_gain: float = 0.02
    error_rate: float = 0.05

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, int | float) or not value > 0:
                raise UserError(f"the threshold {field.name} must be a number above 0: {value!r}")
        if self.error_rate >= 1:
            raise UserError(f"the error rate must be below 1: {self.error_rate!r}")


def thresholds_from(given: Mapping[str, float]) -> Thresholds:
    """The protocol's, with those that were given by name.

    They are written down as JSON, which has no infinity.
    """
    known = [field.name for field in fields(Thresholds)]
    for name, value in given.items():
        if name not in known:
            raise UserError(f"there is no threshold {name!r}; there are: {', '.join(known)}")
        if value == math.inf:
            raise UserError(f"the threshold {name} must be finite; a large number does as well")
    return Thresholds(**given)
