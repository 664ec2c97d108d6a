"""One look for every figure: a rule has the same colour, sign and line everywhere.

The colours are those of Okabe and Ito, which people with any colour vision can tell apart, the
dark ones made lighter for dark pages; signs and lines differ too, so that colour is never alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

LIGHT = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B8860B", "#3090C8", "#555555")
DARK = ("#4BA3DB", "#F0803C", "#2BC49A", "#E59AC6", "#E6B800", "#8FD0F5", "#BBBBBB")
MARKERS = ("o", "s", "D", "^", "v", "P", "X")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "x")
"""The same signs as `MARKERS`, as the page's library calls them."""

LINES = ("-", "--", ":", "-.")
DASHES = ("solid", "dash", "dot", "dashdot")


@dataclass(frozen=True)
class Look:
    """How a rule is drawn: for matplotlib (`marker`, `line`) and on the page (`symbol`, `dash`)."""

    light: str
    dark: str
    marker: str
    symbol: str
    line: str
    dash: str


KNOWN = ("bp", "fa", "dfa", "ep", "state_bridge", "credit_bridge", "drtp")
"""Rules that look the same in every study."""


def looks(methods: Sequence[str]) -> dict[str, Look]:
    """A look for each rule; no two of the first 28 share both colour and line."""
    own = {method: KNOWN.index(method) for method in methods if method in KNOWN}
    free = (index for index in range(len(methods) + len(KNOWN)) if index not in own.values())
    return {method: _look(own[method] if method in own else next(free)) for method in methods}


def _look(index: int) -> Look:
    round_, colour = divmod(index, len(LIGHT))
    sign = (colour + round_) % len(MARKERS)
    line = round_ % len(LINES)
    return Look(
        LIGHT[colour], DARK[colour], MARKERS[sign], SYMBOLS[sign], LINES[line], DASHES[line]
    )
