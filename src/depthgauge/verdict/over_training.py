"""D1 and D2 over training: the epoch at which each first fires."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from depthgauge.verdict.thresholds import Thresholds

NORMS = {"h_norm", "g_norm"}


@dataclass(frozen=True)
class EpochReadings:
    """D1 and D2 after one epoch; the share is None where the metrics do not have it."""

    epoch: int
    growth: float
    gradient: float
    error_share: float | None


def from_metrics(lines: Iterable[dict[str, Any]]) -> list[EpochReadings]:
    """The readings in a run's `metrics.jsonl`.

    Numbers that are not finite are stored as null: a stream without bound, and no gradient. Lines
    without norms are left out.
    """
    return [
        EpochReadings(line["epoch"], math.inf, 0.0, 0.0)
        if line["diverged"]
        else EpochReadings(
            line["epoch"],
            _growth(line["h_norm"]),
            line["g_norm"][-1] or 0.0,
            (line["g_over_e"] or 0.0) if "g_over_e" in line else None,
        )
        for line in lines
        if line["diverged"] or line.keys() >= NORMS
    ]


def _growth(norms: Sequence[float | None]) -> float:
    known = [norm for norm in norms if norm is not None]
    if len(known) < len(norms):
        return math.inf
    ratios = [b / a if a else math.inf for a, b in pairwise(known) if a or b]
    return max(ratios, default=0.0)


def first_fired(
    readings: Iterable[EpochReadings], thresholds: Thresholds | None = None
) -> dict[str, int | None]:
    """The first epoch at which D1, and at which D2, fires by its point values.

    None where it never does; a diagnostic that was never read is left out.
    """
    t = thresholds or Thresholds()
    first: dict[str, int | None] = {}
    for reading in readings:
        for name, fires in _fires(reading, t).items():
            first.setdefault(name, None)
            if fires and first[name] is None:
                first[name] = reading.epoch
    return first


def _fires(reading: EpochReadings, t: Thresholds) -> dict[str, bool]:
    fires = {"D1": reading.growth > t.growth}
    if reading.error_share is not None:
        fires["D2"] = reading.gradient < t.gradient and reading.error_share < t.error_share
    return fires
