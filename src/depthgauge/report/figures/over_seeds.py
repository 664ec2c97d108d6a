"""A rule's curve: the mean over its seeds in full, each seed faint."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from depthgauge.report.figures.style import FAINT
from depthgauge.report.palette import Look

MARKS = 8
"""Markers on a curve: enough to tell it by them, few enough to see it."""

Series = dict[int, float]


def shown(values: Mapping[int, float | None], *, log: bool) -> Series:
    """What can be drawn of a seed's values: finite, and above zero where the axis is a log."""
    return {
        place: value
        for place, value in values.items()
        if value is not None and math.isfinite(value) and (value > 0 or not log)
    }


def mean_over_seeds(seeds: Sequence[Series], *, log: bool) -> Series:
    """At each place the mean of those that have a value there, geometric where the axis is log."""
    mean = statistics.geometric_mean if log else statistics.fmean
    places = sorted({place for seed in seeds for place in seed})
    return {place: mean([seed[place] for seed in seeds if place in seed]) for place in places}


def draw_curve(axes: Axes, look: Look, seeds: Sequence[Series], *, log: bool) -> None:
    """The mean with the rule's own colour, line and marker; the seeds, where there are several."""
    for seed in seeds if len(seeds) > 1 else ():
        axes.plot(*_points(seed), color=look.light, alpha=FAINT, linewidth=0.8)
    mean = mean_over_seeds(seeds, log=log)
    axes.plot(
        *_points(mean),
        color=look.light,
        linestyle=look.line,
        marker=look.marker,
        markevery=math.ceil(len(mean) / MARKS) or None,
    )


def _points(series: Series) -> tuple[list[int], list[float]]:
    """In order, with a gap where values between the first and the last are missing."""
    if not series:
        return [], []
    places = range(min(series), max(series) + 1)
    return list(places), [series.get(place, math.nan) for place in places]
