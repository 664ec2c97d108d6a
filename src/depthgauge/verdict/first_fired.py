"""The diagnostics over training: the first epoch at which each diagnostic fires."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from depthgauge.diagnostics.contract import Readings
from depthgauge.diagnostics.evidence import RuleEvidence
from depthgauge.diagnostics.readings import epoch_readings
from depthgauge.diagnostics.registry import diagnostics
from depthgauge.gauges.epoch_metrics import EpochMetrics
from depthgauge.verdict.thresholds import Thresholds


@dataclass(frozen=True)
class EpochReadings:
    """The readings of the diagnostics after one epoch; a reading that is not recorded is None."""

    epoch: int
    values: Readings


def readings_from_metrics(lines: Iterable[EpochMetrics]) -> list[EpochReadings]:
    """Return the readings of each line of a run's `metrics.jsonl`; skip lines without readings."""
    epochs = [EpochReadings(line["epoch"], epoch_readings(line)) for line in lines]
    return [epoch for epoch in epochs if any(v is not None for v in epoch.values.values())]


def first_fired(
    readings: Iterable[EpochReadings], thresholds: Thresholds | None = None
) -> dict[str, int | None]:
    """Return the first epoch at which each diagnostic fires.

    A diagnostic fires at an epoch if the readings of this epoch alone make it fire, without
    intervals. A diagnostic that never fires has None. A diagnostic without readings is left out.
    """
    used = thresholds or Thresholds()
    first: dict[str, int | None] = {}
    for epoch in readings:
        evidence = RuleEvidence([epoch.values], used, used.error_rate_of_each)
        for diagnostic in diagnostics():
            recorded = [epoch.values.get(quantity.name) for quantity in diagnostic.recorded]
            if not recorded or None in recorded:
                continue
            first.setdefault(diagnostic.id, None)
            if first[diagnostic.id] is None and diagnostic.decide(evidence).fires:
                first[diagnostic.id] = epoch.epoch
    return first
