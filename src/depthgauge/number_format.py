"""Format numbers for readers: in the terminal, on the page, in Markdown and in LaTeX.

Accuracies are values from 0 to 1 and are written in per cent; their differences are written in
percentage points. A missing number is written as a dash.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from depthgauge.diagnostics.contract import Quantity
    from depthgauge.diagnostics.intervals import Interval
    from depthgauge.results.spread import Spread

MISSING = "–"
INFINITE = "∞"
MINUS = "−"

TOO_FEW_SEEDS = "[too few seeds]"
"""The text instead of an interval that is too wide to be useful."""

THOUSAND, MILLION = 1e3, 1e6
"""Numbers in this range are written out, without a power of ten."""

MINUTE, HOUR = 60.0, 3600.0
TWICE = 2
"""A time is written in minutes from 2 minutes on, and in hours from 2 hours on."""

_EXPONENT = re.compile(r"(?<=\d)e([+-]?\d+)")
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


# Accuracies


def percent(share: float | None) -> str:
    """Return a share in per cent, without the sign %: `72.1`."""
    return MISSING if share is None else f"{100 * share:.1f}"


def percent_spread(spread: Spread) -> str:
    """Return mean ± standard deviation of shares in per cent: `72.1 ± 0.2`."""
    if spread.std is None:
        return percent(spread.mean)
    return f"{percent(spread.mean)} ± {percent(spread.std)}"


def points(share: float | None, digits: int = 1) -> str:
    """Return a difference of shares in percentage points, with its sign: `+45.1`."""
    return MISSING if share is None else signed(100 * share, digits)


def count_of(counts: tuple[int, int] | None) -> str:
    """Return (part, whole) as text: `2 of 3`; a dash if the whole is zero."""
    return f"{counts[0]} of {counts[1]}" if counts and counts[1] else MISSING


# Readings


def signed(value: float | None, digits: int = 3) -> str:
    """Return a number with its sign and `digits` decimals: `+0.250`; zero has no sign."""
    if value is None:
        return MISSING
    shown = f"{value:+.{digits}f}".replace("-", MINUS)
    return shown if float(shown[1:]) else shown[1:]


def significant(value: float | None, digits: int = 3) -> str:
    """Return a number with `digits` significant digits: `376`, `0.00120`, `4,490`, `1.28×10⁻⁵`."""
    return in_form(value, f"{{:#.{digits}g}}") if value else "0" if value == 0 else MISSING


def in_form(value: float | None, form: str) -> str:
    """Return a number formatted by `form`, such as `{:.3g}`; thousands get a comma: `4,490`."""
    if value is None or math.isnan(value):
        return MISSING
    if math.isinf(value):
        return INFINITE if value > 0 else f"{MINUS}{INFINITE}"
    text = form.format(value)
    if THOUSAND <= abs(value) < MILLION:
        text = f"{float(text):,.0f}"
    return _typeset(text.rstrip("."))


def exact(value: float) -> str:
    """Return a number with all its digits, up to twelve: `50`, `0.001`, `1×10⁻⁶`."""
    return _typeset(f"{value:.12g}")


def with_powers(text: str) -> str:
    """Return the text with numbers such as `1e-05` written as powers of ten."""
    return _EXPONENT.sub(lambda e: "×10" + str(int(e[1])).translate(_RAISED), text)


def _typeset(text: str) -> str:
    return with_powers(text).replace("-", MINUS)


# Intervals over seeds

Show = Callable[[float | None], str]


def center(interval: Interval | None, show: Show = significant) -> str:
    """Return the middle of an interval."""
    return MISSING if interval is None else _end(interval.center, show)


def bounds(
    quantity: Quantity,
    interval: Interval | None,
    show: Show = significant,
    limit: float | None = None,
) -> str:
    """Return `[low, high]`; a dash for one seed; `TOO_FEW_SEEDS` if the interval is too wide."""
    if interval is None or interval.is_point:
        return MISSING
    if quantity.is_too_wide(interval, limit):
        return TOO_FEW_SEEDS
    return f"[{_end(interval.low, show)}, {_end(interval.high, show)}]"


def with_bounds(quantity: Quantity, interval: Interval | None, show: Show = significant) -> str:
    """Return `center [low, high]`; leave out the part that is missing."""
    parts = [center(interval, show), bounds(quantity, interval, show)]
    return " ".join(part for part in parts if part != MISSING) or MISSING


def _end(value: float, show: Show) -> str:
    return INFINITE if value == math.inf else show(value)


# Counts and times


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: `1 run`, `2 runs`, `0 processes`."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def duration(seconds: float) -> str:
    """Return a time in seconds, minutes or hours: `90 s`, `3 min`, `2.5 h`."""
    if seconds < TWICE * MINUTE:
        return f"{seconds:.0f} s"
    if seconds < TWICE * HOUR:
        return f"{seconds / MINUTE:.0f} min"
    return f"{seconds / HOUR:.1f} h"
