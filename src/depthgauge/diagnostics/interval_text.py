"""Intervals as text, for the sentences of findings."""

from __future__ import annotations

from depthgauge.diagnostics.contract import Quantity
from depthgauge.diagnostics.intervals import Interval
from depthgauge.number_format import TOO_FEW_SEEDS


def write_interval(quantity: Quantity, interval: Interval, limit: float) -> str:
    """Write the mean with three digits, and the interval where there is more than one seed."""
    ends = f"[{interval.low:.3g}, {interval.high:.3g}]"
    return f"{interval.center:.3g}" + _ends(quantity, interval, limit, ends)


def write_points(quantity: Quantity, interval: Interval, limit: float) -> str:
    """Write an interval of accuracies, or of their differences, in percentage points."""
    ends = f"[{100 * interval.low:+.1f}, {100 * interval.high:+.1f}]"
    return f"{100 * interval.center:+.1f}" + _ends(quantity, interval, limit, ends)


def _ends(quantity: Quantity, interval: Interval, limit: float, ends: str) -> str:
    """Return the text after the mean: the ends, "[too few seeds]", or nothing for one seed."""
    if interval.is_point:
        return ""
    return f" {TOO_FEW_SEEDS if quantity.is_too_wide(interval, limit) else ends}"
