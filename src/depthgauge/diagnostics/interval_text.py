"""Intervals as text, for the sentences of findings."""

from __future__ import annotations

from depthgauge.diagnostics.contract import Quantity
from depthgauge.diagnostics.intervals import Interval
from depthgauge.number_format import MISSING, Show, bounds, in_form, points

THREE_DIGITS = "{:.3g}"


def write_interval(quantity: Quantity, interval: Interval, limit: float) -> str:
    """Write the mean with three digits and, if there is more than one seed, the interval."""
    return _write(quantity, interval, limit, lambda value: in_form(value, THREE_DIGITS))


def write_points(quantity: Quantity, interval: Interval, limit: float) -> str:
    """Write an interval of accuracies, or of their differences, in percentage points."""
    return _write(quantity, interval, limit, points)


def _write(quantity: Quantity, interval: Interval, limit: float, show: Show) -> str:
    ends = bounds(quantity, interval, show, limit)
    return show(interval.center) + ("" if ends == MISSING else f" {ends}")
