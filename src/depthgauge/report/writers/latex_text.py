"""Text as LaTeX, escaped so that any text compiles."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from depthgauge.report.writers.latex_symbols import ACCENTS, SYMBOLS
from depthgauge.report.writers.plain_text import plain_text

LONG_WORD, BREAK_EVERY = 24, 12
"""A word of 24 characters or more may be broken after every 12."""

_RAISED = "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"
_LEVEL = str.maketrans(_RAISED, "-0123456789")
_PIECE = re.compile(
    rf"(?P<number>−?[0-9]+(?:\.[0-9]+)?)×10(?P<power>[{_RAISED}]+)"
    r"|‖(?P<vector>[a-z])(?:_(?P<index>[A-Za-z0-9]))?‖"
    r"|(?P<ligature>-(?=-)|,(?=,))"
    rf"|(?P<letter>[A-Za-z])(?P<accent>[{''.join(ACCENTS)}])"
    r"|(?P<other>.)"
)
"""Powers of ten, norms, signs that would join to ligatures, accented letters, other characters."""


def latex_text(text: str) -> str:
    """Return the text on one line in ASCII, with every special character as a command.

    A character without a command becomes its code point, such as `[U+4E2D]`. Very long words, such
    as checksums, may be broken.
    """
    return " ".join(map(_word, plain_text(text).split(" "))).replace("$$", "${}$")


@lru_cache(4096)
def _word(word: str) -> str:
    pieces = [*_pieces(word)]
    if len(pieces) < LONG_WORD:
        return "".join(pieces)
    parts = ["".join(pieces[i : i + BREAK_EVERY]) for i in range(0, len(pieces), BREAK_EVERY)]
    return r"\allowbreak{}".join(parts)


def _pieces(word: str) -> Iterator[str]:
    for found in _PIECE.finditer(unicodedata.normalize("NFC", word)):
        if found["number"]:
            number, power = found["number"].replace("−", "-"), found["power"].translate(_LEVEL)
            yield rf"${number}\times10^{{{power}}}$"
        elif found["vector"]:
            index = f"_{found['index']}" if found["index"] else ""
            yield rf"$\|{found['vector']}{index}\|$"
        elif found["ligature"]:
            yield found["ligature"] + "{}"
        elif found["letter"]:
            yield _accented(found["letter"], found["accent"])
        else:
            yield _character(found["other"])


def _character(character: str) -> str:
    if character in SYMBOLS:
        return SYMBOLS[character]
    if character.isascii():
        return character
    parts = unicodedata.normalize("NFD", character)
    if parts[0].isascii() and parts[1:] in ACCENTS:
        return _accented(parts[0], parts[1:])
    return f"{{[}}U+{ord(character):04X}{{]}}"


def _accented(letter: str, mark: str) -> str:
    dotless = {"i": r"\i", "j": r"\j"}.get(letter, letter)
    return rf"\{ACCENTS[mark]}{{{dotless}}}"
