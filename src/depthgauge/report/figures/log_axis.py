"""Axes with a logarithmic scale, and ticks that can be read on them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from depthgauge.report.figures.text import PLAIN_FROM, PLAIN_TO, number, power_of_ten

LEAST_SPAN = 1.0
"""Decades: less would make much of small differences."""

PAD = 0.06
LARGEST = 300


def log_axis(axes: Axes, which: Literal["x", "y"], values: Iterable[float]) -> None:
    """Make an axis logarithmic and wide enough for all values that have a logarithm."""
    shown = [math.log10(value) for value in values if 0 < value < math.inf] or [0.0]
    low, high = min(shown), max(shown)
    pad = PAD * max(high - low, LEAST_SPAN) + max(0.0, LEAST_SPAN - (high - low)) / 2
    set_log_limits(axes, which, low - pad, high + pad)


def set_log_limits(axes: Axes, which: Literal["x", "y"], low: float, high: float) -> None:
    """Limits as decades."""
    low, high = max(low, -LARGEST), min(high, LARGEST)
    axes.set(**{f"{which}scale": "log", f"{which}lim": (10.0**low, 10.0**high)})
    axis = axes.xaxis if which == "x" else axes.yaxis
    ticks = log_ticks(low, high, most=4 if which == "x" else 7)
    plain = all(PLAIN_FROM <= tick <= PLAIN_TO for tick in ticks)
    axis.set_ticks(ticks, [number(tick) if plain else power_of_ten(tick) for tick in ticks])
    axis.set_minor_locator(NullLocator())


def log_ticks(low: float, high: float, most: int) -> list[float]:
    """The finest of the usual series of round numbers with no more than `most` between limits."""
    series = (
        [tick for tick in ticks if low <= math.log10(tick) <= high] for ticks in _series(low, high)
    )
    return next(ticks for ticks in series if len(ticks) <= most)


def _series(low: float, high: float) -> Iterator[list[float]]:
    decades = range(math.floor(low), math.ceil(high) + 1)
    for mantissas in ((1, 2, 5), (1, 3), (1,)):
        yield [mantissa * 10.0**decade for decade in decades for mantissa in mantissas]
    for step in range(2, len(decades) + 1):
        yield [10.0**decade for decade in decades if decade % step == 0]
