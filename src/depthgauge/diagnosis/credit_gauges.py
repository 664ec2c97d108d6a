"""The gauges that examine credit, together."""

from __future__ import annotations

from typing import Any

from depthgauge.gauges.alignment import AlignmentGauge
from depthgauge.gauges.credit import Convention, CreditFunction
from depthgauge.gauges.nudging import NudgingGauge
from depthgauge.gauges.perturbation import PerturbationGauge
from depthgauge.gauges.reading import Gauge


def credit_gauges(credit: CreditFunction, convention: Convention) -> dict[str, Gauge]:
    """Γ, ρ and nudging, by the names they have in a report."""
    return {
        "alignment": AlignmentGauge(credit, convention),
        "perturbation": PerturbationGauge(credit, convention),
        "nudging": NudgingGauge(credit, convention),
    }


def readings_of(gauges: dict[str, Gauge]) -> dict[str, Any]:
    """What they come to."""
    return {name: gauge.reading() for name, gauge in gauges.items()}
