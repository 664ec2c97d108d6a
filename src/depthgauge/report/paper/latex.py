"""Text and tables as LaTeX that compiles whatever is in them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

from depthgauge.report.paper.cells import plain_text, right_aligned
from depthgauge.report.paper.latex_symbols import ACCENTS, SYMBOLS

PACKAGES = "% \\usepackage{booktabs,textcomp,graphicx}\n"
"""What the preamble must have, as a comment to stand before what needs it."""

LONG_WORD, BREAK_EVERY = 24, 12
LONG_NAME, LONG_CELL = 40, 24

_RAISED = "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"
_LEVEL = str.maketrans(_RAISED, "-0123456789")
_PIECE = re.compile(
    rf"(?P<number>−?[0-9]+(?:\.[0-9]+)?)×10(?P<power>[{_RAISED}]+)"
    r"|‖(?P<vector>[a-z])(?:_(?P<index>[A-Za-z0-9]))?‖"
    r"|(?P<ligature>-(?=-)|,(?=,))"
    rf"|(?P<letter>[A-Za-z])(?P<accent>[{''.join(ACCENTS)}])"
    r"|(?P<other>.)"
)
"""Powers of ten, norms, what would run together, letters with a mark, and the rest."""


def latex_text(text: str) -> str:
    """The text on one line, in ASCII, every special character as a command.

    What has no command is given by its number, such as `[U+4E2D]`. Very long words, such as
    checksums, may be broken.
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


def latex_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], caption: str, label: str
) -> str:
    """A `table` with the rules of booktabs, numbers to the right, never wider than the text."""
    columns = _columns(header, rows)
    lines = [
        r"\begin{table}[htbp]",
        r"  \centering\small\setlength{\belowcaptionskip}{6pt}",
        rf"  \caption{{{latex_text(caption)}}}",
        rf"  \label{{{re.sub('[^A-Za-z0-9:]+', '-', label)}}}",
        r"  \resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%",
        rf"  \begin{{tabular}}{{@{{}}{''.join(columns)}@{{}}}}",
        r"    \toprule",
        _row(header, columns),
        r"    \midrule",
        *(_row(row, columns) for row in rows),
        r"    \bottomrule",
        r"  \end{tabular}}",
        r"\end{table}",
    ]
    return "".join(f"{line}\n" for line in lines)


def _columns(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Numbers to the right, words to the left, long ones on several lines."""
    columns = []
    for column, numbers in enumerate(right_aligned(rows, len(header))):
        limit = LONG_CELL if column else LONG_NAME
        long = max(len(row[column]) for row in (header, *rows)) > limit
        columns.append("r" if numbers else rf"p{{{limit // 2}em}}" if long else "l")
    return columns


def _row(cells: Sequence[str], columns: Sequence[str]) -> str:
    written = [
        (r"\raggedright " if column.startswith("p") else "") + latex_text(cell)
        for cell, column in zip(cells, columns, strict=True)
    ]
    return f"    {' & '.join(written)} \\tabularnewline"
