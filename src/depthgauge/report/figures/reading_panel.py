"""One reading of all rules: the rules below each other, the side where it is bad shaded."""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection

from matplotlib.axes import Axes

from depthgauge.report.figures.diagnostic_axis import DiagnosticAxis
from depthgauge.report.figures.log_axis import set_log_limits
from depthgauge.report.figures.style import GREY
from depthgauge.report.figures.text import plain
from depthgauge.report.palette import Look
from depthgauge.results.rule import RuleResult

MARGIN = 0.06
EDGE = 0.36
"""Share of the width that is kept for networks that have no place on the axis."""

REACH = 0.5
"""How far an interval may widen the axis, as a share of what the seeds themselves need."""

LEAST_LINEAR = 0.1
SHADE = "#F6E3DC"


def draw_reading(
    axes: Axes, reading: DiagnosticAxis, views: Collection[RuleResult], seen: dict[str, Look]
) -> None:
    """The rules in the order of the reading, the best on top."""
    rows = sorted(views, key=lambda view: _badness(reading, view))
    _set_limits(axes, reading, rows)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_yticks(range(len(rows)), [plain(view.label) for view in rows])
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set_title(reading.title)
    axes.set_xlabel(reading.label)
    _draw_threshold(axes, reading)
    for place, view in enumerate(rows):
        look, values = seen[view.label], _on_axis(reading, view)
        _draw_interval(axes, place, reading.ends(view) if values else None, look)
        axes.plot(
            values, [place] * len(values), look.marker, color=look.light, mec="white", mew=0.5
        )
        _draw_outside(axes, place, reading, view)


def _on_axis(reading: DiagnosticAxis, view: RuleResult) -> list[float]:
    return [
        value
        for value in reading.values(view)
        if value is not None and math.isfinite(value) and (value > 0 or not reading.log)
    ]


def _badness(reading: DiagnosticAxis, view: RuleResult) -> tuple[bool, float]:
    """By the mean reading; rules without one come last."""
    values = _on_axis(reading, view)
    if not values:
        return True, 0.0
    mean = statistics.geometric_mean(values) if reading.log else statistics.fmean(values)
    return False, mean if reading.bad == "above" else -mean


def _set_limits(axes: Axes, reading: DiagnosticAxis, rows: Collection[RuleResult]) -> None:
    """Room for every seed and the threshold, for intervals within reason, and for the edge."""
    scaled = math.log10 if reading.log else float
    points = [scaled(value) for view in rows for value in _on_axis(reading, view)]
    points += [scaled(reading.threshold)] if reading.threshold else []
    low, high = min(points, default=0.0), max(points, default=0.0)
    span = max(high - low, 1.0 if reading.log else LEAST_LINEAR * reading.quantity.factor)
    for ends in filter(None, map(reading.ends, rows)):
        known = [scaled(end) for end in ends if (end > 0 or not reading.log) and end < math.inf]
        low = min([low, *(max(end, min(points) - REACH * span) for end in known)])
        high = max([high, *(min(end, max(points) + REACH * span) for end in known)])
    lacking = max(0.0, span - (high - low))
    low, high = low - MARGIN * span - lacking / 2, high + MARGIN * span + lacking / 2
    if any(_outside(reading, view) for view in rows):
        edge = EDGE / (1 - EDGE) * (high - low)
        low, high = (low, high + edge) if reading.bad == "above" else (low - edge, high)
    if reading.log:
        set_log_limits(axes, "x", low, high)
    else:
        axes.set_xlim(low, high)
        axes.locator_params(axis="x", nbins=5)


def _draw_threshold(axes: Axes, reading: DiagnosticAxis) -> None:
    if reading.threshold is None:
        return
    low, high = axes.get_xlim()
    side = (reading.threshold, high) if reading.bad == "above" else (low, reading.threshold)
    axes.axvspan(*side, color=SHADE, linewidth=0, zorder=0)
    axes.axvline(reading.threshold, color=GREY, linestyle="--", linewidth=1)


def _draw_interval(axes: Axes, place: int, ends: tuple[float, float] | None, look: Look) -> None:
    """A bar; where it goes on beyond the panel, an arrow says so."""
    if ends is None:
        return
    low, high = axes.get_xlim()
    axes.plot([max(low, ends[0]), min(high, ends[1])], [place] * 2, color=look.light, lw=1.2)
    for beyond, at, arrow in ((ends[0] < low, low, "<"), (ends[1] > high, high, ">")):
        if beyond:
            axes.plot([at], [place], arrow, color=look.light, markersize=4, clip_on=False)


def _outside(reading: DiagnosticAxis, view: RuleResult) -> str:
    """What is said of the networks that have no place on the axis."""
    lost = sum(network.diverged for network in view.networks)
    words = [f"{lost} diverged" if len(view.networks) > 1 else "diverged"] if lost else []
    values = reading.values(view)
    for place, count in (("∞", values.count(math.inf)), ("0", values.count(0.0))):
        if count and reading.log:
            words.append(f"{count} at {place}" if len(values) > 1 else place)
    if not words and not _on_axis(reading, view):
        words = ["not read"]
    return ", ".join(words)


def _draw_outside(axes: Axes, place: int, reading: DiagnosticAxis, view: RuleResult) -> None:
    if words := _outside(reading, view):
        at, side = (0.98, "right") if reading.bad == "above" else (0.02, "left")
        axes.text(
            at,
            place,
            words if words == "not read" else f"✕ {words}",
            transform=axes.get_yaxis_transform(),
            ha=side,
            va="center_baseline",
            color=GREY,
            fontsize=8,
            bbox={"facecolor": SHADE if reading.threshold else "white", "lw": 0, "pad": 1},
            zorder=5,
        )
