"""Axes with limits and ticks that are fixed before a chart is drawn.

A chart keeps its axes when a reader hides all rules but one, so the two views can be compared.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import altair as alt

from depthgauge.number_format import in_form, with_powers

MARGIN = 0.06
"""Room beyond the outermost values, as a share of what they span."""

LEAST_DECADES = 1.0
"""The smallest span of a logarithmic axis: a shorter axis would exaggerate small differences."""

PLAIN_FROM, PLAIN_TO = 1e-3, 1e4
"""Ticks between these are written without powers of ten."""

LARGEST_DECADE = 300


def has_place(value: float | None, log: bool = False) -> bool:
    """Return whether an axis can show a value: it is finite, and positive if the axis is `log`."""
    return value is not None and math.isfinite(value) and (value > 0 or not log)


@dataclass(frozen=True)
class Span:
    """The limits of an axis; for a logarithmic axis they are exponents of ten."""

    low: float
    high: float
    log: bool = False

    @property
    def width(self) -> float:
        """The distance between the limits; in decades if the axis is logarithmic."""
        return self.high - self.low

    @property
    def ends(self) -> tuple[float, float]:
        """The limits as values, not as exponents."""
        return (10**self.low, 10**self.high) if self.log else (self.low, self.high)

    def widened(self, below: float = 0.0, above: float = 0.0) -> Span:
        """Return the span with more room at its ends, as shares of its width."""
        return Span(self.low - below * self.width, self.high + above * self.width, self.log)

    def clipped(self, value: float) -> float:
        """Return the value; if it lies outside the span, return the nearer end instead."""
        low, high = self.ends
        return min(max(value, low), high)

    @property
    def scale(self) -> alt.Scale:
        """The scale of a chart's axis, with exactly these limits."""
        kind: Any = {"type": "log"} if self.log else {"zero": False}
        return alt.Scale(domain=list(self.ends), nice=False, **kind)

    def axis(self, title: str | None, most: int = 7) -> alt.Axis:
        """Return the axis, with about `most` ticks or fewer."""
        if not self.log:
            return alt.Axis(title=title, tickCount=most)
        ticks = log_ticks(self.low, self.high, most)
        is_plain = all(PLAIN_FROM <= tick <= PLAIN_TO for tick in ticks)
        texts = {
            _exponential(tick): in_form(tick, "{:.5g}") if is_plain else _power(tick)
            for tick in ticks
        }
        labels = f"{json.dumps(texts, ensure_ascii=False)}[format(datum.value, '.0e')]"
        return alt.Axis(title=title, values=ticks, labelExpr=labels)


def span_of(values: Iterable[float | None], *, log: bool = False, least: float = 0.0) -> Span:
    """Return a span with room for all values that the axis can show.

    `least` is the smallest width of an axis that is not logarithmic.
    """
    known = [value for value in values if value is not None and has_place(value, log)]
    places = [math.log10(value) for value in known] if log else known
    low, high = min(places, default=0.0), max(places, default=0.0)
    needed = max(high - low, LEAST_DECADES if log else least) or 1.0
    room = MARGIN * needed + max(0.0, needed - (high - low)) / 2
    if log:
        return Span(max(low - room, -LARGEST_DECADE), min(high + room, LARGEST_DECADE), log)
    return Span(low - room, high + room)


def log_ticks(low: float, high: float, most: int) -> list[float]:
    """Return the finest series of at most `most` round numbers from 10**low to 10**high."""
    series = (
        [tick for tick in ticks if low <= math.log10(tick) <= high] for ticks in _series(low, high)
    )
    return next(ticks for ticks in series if len(ticks) <= most)


def _series(low: float, high: float) -> Iterator[list[float]]:
    decades = range(math.floor(low), math.ceil(high) + 1)
    for mantissas in ((1, 2, 5), (1, 3), (1,)):
        yield [float(f"{mantissa}e{decade}") for decade in decades for mantissa in mantissas]
    for step in range(2, len(decades) + 1):
        yield [float(f"1e{decade}") for decade in decades if decade % step == 0]


def _power(tick: float) -> str:
    """Write a tick as a power of ten; 1 and 10 stay as they are."""
    return f"{tick:g}" if tick in (1, 10) else with_powers(f"{tick:.0e}").removeprefix("1×")


def _exponential(tick: float) -> str:
    """Write a tick as Vega's format `.0e` does: 2e-3, 1e+0."""
    mantissa, _, exponent = f"{tick:.0e}".partition("e")
    return f"{mantissa}e{exponent[0]}{int(exponent[1:])}"
