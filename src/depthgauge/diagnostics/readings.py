"""The readings of one network that the diagnostics need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from depthgauge.diagnostics.registry import quantities

if TYPE_CHECKING:
    from depthgauge.gauges.epoch_metrics import EpochMetrics
    from depthgauge.gauges.network_readings import NetworkReadings


def seed_readings(network: NetworkReadings) -> dict[str, float | None]:
    """Return the readings that the diagnostics need, from the gauges' readings of a network."""
    return {name: quantity.from_network(network) for name, quantity in quantities().items()}


def diverged_readings() -> dict[str, float | None]:
    """Return the readings that stand for a diverged network, which the gauges cannot read."""
    return {name: quantity.if_diverged for name, quantity in quantities().items()}


def epoch_readings(line: EpochMetrics) -> dict[str, float | None]:
    """Return the readings that training recorded in one line of a run's metrics."""
    recorded = {name: q for name, q in quantities().items() if q.from_epoch is not None}
    if line["diverged"]:
        return {name: quantity.if_diverged for name, quantity in recorded.items()}
    return {name: q.from_epoch(line) for name, q in recorded.items() if q.from_epoch is not None}
