"""The words of a verdict."""

from __future__ import annotations

from typing import Literal

Word = Literal[
    "walk back",
    "shallow",
    "inconclusive",
    "trustworthy",
    "no alarm, depth untested",
    "no blocks",
    "not judged",
]
"""The last two stand where there is nothing to judge: no depth, or no evidence yet."""

BAD_WORDS: frozenset[str] = frozenset({"walk back", "shallow"})
"""Depth is not trained as it seems."""
