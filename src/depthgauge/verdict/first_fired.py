"""Diagnostics over training: the epoch at which each first fires."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from depthgauge.diagnostics.case import Case
from depthgauge.diagnostics.contract import Readings
from depthgauge.diagnostics.readings import epoch_readings
from depthgauge.diagnostics.registry import diagnostics
from depthgauge.gauges.epoch_metrics import EpochMetrics
from depthgauge.verdict.thresholds import Thresholds


@dataclass(frozen=True)
class EpochReadings:
    """What the diagnostics read after one epoch; None where the metrics do not have it."""

    epoch: int
    values: Readings


def from_metrics(lines: Iterable[EpochMetrics]) -> list[EpochReadings]:
    """Return the readings in a run's `metrics.jsonl`; lines without any are left out."""
    found = [EpochReadings(line["epoch"], epoch_readings(line)) for line in lines]
    return [read for read in found if any(v is not None for v in read.values.values())]


def first_fired(
    readings: Iterable[EpochReadings], thresholds: Thresholds | None = None
) -> dict[str, int | None]:
    """Return the first epoch at which each diagnostic fires by its point values.

    None where it never does; a diagnostic that was never read is left out.
    """
    used = thresholds or Thresholds()
    watched = [one for one in diagnostics() if one.recorded]
    first: dict[str, int | None] = {}
    for read in readings:
        case = Case([read.values], used, used.error_rate_of_each)
        for one in watched:
            if any(read.values.get(quantity.name) is None for quantity in one.recorded):
                continue
            first.setdefault(one.id, None)
            if first[one.id] is None and one.decide(case).fires:
                first[one.id] = read.epoch
    return first
