"""Intervals in the sentences of findings."""

from __future__ import annotations

from depthgauge.diagnostics.contract import Quantity
from depthgauge.diagnostics.intervals import TOO_FEW_SEEDS, Interval


def plain(quantity: Quantity, found: Interval, limit: float) -> str:
    """Write the mean with three digits, and the interval where there is more than one seed."""
    ends = f"[{found.low:.3g}, {found.high:.3g}]"
    return f"{found.center:.3g}" + _after(quantity, found, limit, ends)


def in_points(quantity: Quantity, found: Interval, limit: float) -> str:
    """Write an interval of accuracies, or of their differences, in percentage points."""
    ends = f"[{100 * found.low:+.1f}, {100 * found.high:+.1f}]"
    return f"{100 * found.center:+.1f}" + _after(quantity, found, limit, ends)


def _after(quantity: Quantity, found: Interval, limit: float, ends: str) -> str:
    if found.is_point:
        return ""
    return f" {TOO_FEW_SEEDS if quantity.says_nothing(found, limit) else ends}"
