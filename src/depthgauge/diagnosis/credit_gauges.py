"""The gauges of credit: alignment Γ, perturbation correlation ρ, and nudging."""

from __future__ import annotations

from typing import Any

from depthgauge.gauges.alignment import AlignmentGauge
from depthgauge.gauges.credit import Convention
from depthgauge.gauges.nudging import NudgingGauge
from depthgauge.gauges.perturbation import PerturbationGauge
from depthgauge.gauges.reading import Gauge
from depthgauge.rules.credit_function import CreditFunction


def credit_gauges(credit: CreditFunction, convention: Convention) -> dict[str, Gauge]:
    """Return the three gauges of credit, by the names of their readings in a report."""
    return {
        "alignment": AlignmentGauge(credit, convention),
        "perturbation": PerturbationGauge(credit, convention),
        "nudging": NudgingGauge(credit, convention),
    }


def readings_of(gauges: dict[str, Gauge]) -> dict[str, Any]:
    """Return the readings of gauges by name, as arguments of `NetworkReadings`."""
    return {name: gauge.reading() for name, gauge in gauges.items()}
