"""Numbers as options take them."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable


def whole(minimum: int) -> Callable[[str], int]:
    """Return a parser of whole numbers from `minimum` on."""

    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = minimum - 1
        if number < minimum:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {minimum} on")
        return number

    return parse


def share(lowest: float) -> Callable[[str], float]:
    """Return a parser of shares from `lowest` to 1."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not lowest <= value <= 1:
            raise argparse.ArgumentTypeError(f"{text!r} is not a share from {lowest:g} to 1")
        return value

    return parse
