"""Intervals in the sentences of findings."""

from __future__ import annotations

from depthgauge.diagnostics.intervals import Interval


def plain(found: Interval) -> str:
    """Write the mean with three digits, and the interval where there is more than one seed."""
    return f"{found.center:.3g}" + (f" [{found.low:.3g}, {found.high:.3g}]" if found.n > 1 else "")


def in_points(found: Interval) -> str:
    """Write an interval of accuracies, or of their differences, in percentage points."""
    ends = f" [{100 * found.low:+.1f}, {100 * found.high:+.1f}]" if found.n > 1 else ""
    return f"{100 * found.center:+.1f}{ends}"
