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
"""The word of a verdict. "no blocks" and "not judged" mean that there is nothing to judge."""

BAD_WORDS: frozenset[str] = frozenset({"walk back", "shallow"})
"""The words of a rule that does not train the depth of its network."""
