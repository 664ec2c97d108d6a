"""Numbers as a paper writes them; `–` where there is none."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from depthgauge.diagnostics.contract import Quantity
from depthgauge.diagnostics.intervals import TOO_FEW_SEEDS, Interval
from depthgauge.results.spread import Spread

UNKNOWN = "–"
INFINITE = "∞"

_EXPONENT = re.compile(r"(?<=\d)e([+-]?\d+)")
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def significant(value: float | None, digits: int = 3) -> str:
    """With so many significant digits: 376, 0.00120, 1.28×10⁻⁵."""
    if value is None or math.isnan(value):
        return UNKNOWN
    if math.isinf(value):
        return INFINITE if value > 0 else f"−{INFINITE}"
    return _with_power(f"{value:#.{digits}g}".rstrip(".")) if value else "0"


def exact(value: float) -> str:
    """With every digit it has: 50, 0.001, 1×10⁻⁶."""
    return _with_power(repr(value).removesuffix(".0"))


def _with_power(text: str) -> str:
    return powers(text).replace("-", "−")


def powers(text: str) -> str:
    """A text of ours with its numbers like 1e-05 as powers of ten."""
    return _EXPONENT.sub(lambda e: "×10" + str(int(e[1])).translate(_RAISED), text)


def signed(value: float | None, digits: int = 3) -> str:
    """With its sign, if it is not zero, and so many digits after the point."""
    if value is None:
        return UNKNOWN
    shown = f"{value:+.{digits}f}".replace("-", "−")
    return shown if float(shown[1:]) else shown[1:]


def points(share: float | None) -> str:
    """A difference of shares in percentage points."""
    return UNKNOWN if share is None else signed(100 * share, 1)


def spread(entry: Spread) -> str:
    """Mean ± standard deviation of shares, in per cent."""
    if entry.mean is None:
        return UNKNOWN
    around = "" if entry.std is None else f" ± {100 * entry.std:.1f}"
    return f"{100 * entry.mean:.1f}{around}"


Shown = Callable[[float | None], str]


def center(interval: Interval | None, shown: Shown = significant) -> str:
    """The middle of an interval."""
    return UNKNOWN if interval is None else _bound(interval.center, shown)


def bounds(
    quantity: Quantity,
    interval: Interval | None,
    shown: Shown = significant,
    limit: float | None = None,
) -> str:
    """`[low, high]`; of one seed there are none, and those of few may say nothing."""
    if interval is None or interval.is_point:
        return UNKNOWN
    if quantity.is_too_wide(interval, limit):
        return TOO_FEW_SEEDS
    return f"[{_bound(interval.low, shown)}, {_bound(interval.high, shown)}]"


def _bound(value: float, shown: Shown) -> str:
    return INFINITE if value == math.inf else shown(value)


def with_bounds(quantity: Quantity, interval: Interval | None, shown: Shown = significant) -> str:
    """`center [low, high]`, as far as they are known."""
    parts = [center(interval, shown), bounds(quantity, interval, shown)]
    return " ".join(part for part in parts if part != UNKNOWN) or UNKNOWN
