"""The gauges that examine credit, together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from depthgauge.gauges.alignment import AlignmentGauge
from depthgauge.gauges.credit import Convention, CreditFunction
from depthgauge.gauges.measure import measure
from depthgauge.gauges.nudging import NudgingGauge
from depthgauge.gauges.perturbation import PerturbationGauge
from depthgauge.gauges.reading import Gauge
from depthgauge.nets.opened import OpenedNet


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


def examine_credit(
    net: OpenedNet,
    batches: Iterable[Any],
    credit: CreditFunction,
    convention: Convention = "depthgauge",
) -> dict[str, Any]:
    """Γ, ρ and nudging of a credit on batches of their own."""
    gauges = credit_gauges(credit, convention)
    measure(net, batches, list(gauges.values()))
    return readings_of(gauges)
