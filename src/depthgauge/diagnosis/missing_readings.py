"""The readings of a network for which autograd gives a wrong gradient: n/a, with a reason."""

from __future__ import annotations

import math
from typing import Any

from depthgauge.gauges.alignment import AlignmentReading
from depthgauge.gauges.nudging import NudgingReading
from depthgauge.gauges.numerics import NumericsReading
from depthgauge.gauges.reading import Reading
from depthgauge.gauges.reference import ReferenceReading


def readings_without_reference(reason: str, *, with_credit: bool) -> dict[str, Any]:
    """Return every reading that needs the true gradient, as n/a with the reason."""
    rest: tuple[None, tuple[()], str, str, str, str] = (None, (), "", "", "", f"n/a: {reason}")
    of_gradient = {
        "reference": ReferenceReading("D2 reference", *rest, over_error=math.nan, error=math.nan),
        "numerics": NumericsReading("D2n numerics", *rest),
        "stability": Reading("D2s stability", *rest),
    }
    of_credit = {
        "alignment": AlignmentReading("Γ alignment", *rest),
        "perturbation": Reading("ρ perturbation correlation", *rest),
        "nudging": NudgingReading("nudging", *rest),
    }
    return of_gradient | (of_credit if with_credit else {})
