"""What cells of tables have in common, whatever they are written as."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from depthgauge.number_format import MISSING, TOO_FEW_SEEDS

_NUMBER = re.compile(r"([<>] )?[+−\[]*[\d∞][\d.,∞ +−±×⁰¹²³⁴⁵⁶⁷⁸⁹⁻\[\]]*( of \d+| [a-z]| \(.*\))?")
"""A number, with its spread or interval, out of how many, with a mark or a remark."""


def plain_text(text: str) -> str:
    """On one line: white space of any kind is one space; what cannot be shown becomes U+FFFD."""
    return "".join(
        "\ufffd" if unicodedata.category(character) in ("Cc", "Cs") else character
        for character in " ".join(text.split())
    )


def right_aligned(rows: Sequence[Sequence[str]], columns: int) -> list[bool]:
    """Which columns hold numbers; the first never does: it names the row."""
    return [
        column > 0 and all(_is_number(row[column]) for row in rows) for column in range(columns)
    ]


def _is_number(cell: str) -> bool:
    number = cell.removesuffix(TOO_FEW_SEEDS).rstrip()
    return number in ("", MISSING) or _NUMBER.fullmatch(number) is not None
