"""Curves in a line of text: one sign for each value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


class Signs(NamedTuple):
    """From low to high, and one for a value that is missing."""

    levels: str
    missing: str


BLOCKS = Signs("▁▂▃▄▅▆▇█", "·")
DIGITS = Signs("01234567", ".")
"""For terminals that cannot show blocks."""


def sparklines(curves: Sequence[Sequence[float | None]], signs: Signs = BLOCKS) -> list[str]:
    """All on one scale, from the lowest to the highest value of any: a low flat curve looks low.

    Where all values are equal, they are in the middle. What lies between two signs gets the lower
    one: the middle is half a block.
    """
    known = [value for curve in curves for value in curve if value is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)

    def sign(value: float | None) -> str:
        if value is None:
            return signs.missing
        share = (value - low) / (high - low) if high > low else 0.5
        return signs.levels[math.ceil(share * (len(signs.levels) - 1) - 0.5)]

    return ["".join(map(sign, curve)) for curve in curves]
