"""Curves as lines of text: one character for each value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


class Signs(NamedTuple):
    """The characters of a curve: `levels` from low to high, and `missing` for a missing value."""

    levels: str
    missing: str


BLOCKS = Signs("▁▂▃▄▅▆▇█", "·")
DIGITS = Signs("01234567", ".")
"""For terminals that cannot show blocks."""


def sparklines(curves: Sequence[Sequence[float | None]], signs: Signs = BLOCKS) -> list[str]:
    """Return a line of characters for each curve, with all curves on one scale.

    The scale goes from the lowest to the highest value of all curves. If all values are equal, each
    gets the middle character. A value halfway between two characters gets the lower one.
    """
    known = [value for curve in curves for value in curve if value is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)

    def sign(value: float | None) -> str:
        if value is None:
            return signs.missing
        share = (value - low) / (high - low) if high > low else 0.5
        return signs.levels[math.ceil(share * (len(signs.levels) - 1) - 0.5)]

    return ["".join(map(sign, curve)) for curve in curves]
