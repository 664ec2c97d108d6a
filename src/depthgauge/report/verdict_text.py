"""Verdicts in a terminal: a colour, and a sign for those who do not see it."""

from __future__ import annotations

from typing import NamedTuple

from rich.text import Text

from depthgauge.report.audit_table import Table


class _Look(NamedTuple):
    sign: str
    style: str


LOOKS = {
    "trustworthy": _Look("✓", "bold green"),
    "walk back": _Look("✗", "bold red"),
    "diverged": _Look("✗", "bold red"),
    "shallow": _Look("✗", "bold red"),
    "inconclusive": _Look("~", "bold yellow"),
    "no alarm, depth untested": _Look("?", "bold blue"),
}


def verdict_text(words: str, *, signs: bool) -> Text:
    """A verdict with its sign, its word coloured, the evidence after it plain."""
    for word, (sign, style) in LOOKS.items():
        if words.startswith(word):
            coloured = f"{sign} {word}" if signs else word
            return Text.assemble((coloured, style), words.removeprefix(word))
    return Text(words)


def with_styled_verdicts(table: Table, *, signs: bool) -> tuple[list[str], list[list[str | Text]]]:
    """Return a table with its column `verdict` styled; a table without one stays as it is."""
    header, rows = table
    if "verdict" not in header:
        return header, [list(row) for row in rows]
    place = header.index("verdict")
    return header, [
        [*row[:place], verdict_text(row[place], signs=signs), *row[place + 1 :]] for row in rows
    ]
