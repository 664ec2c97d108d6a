"""Text and tables as Markdown, such that whatever is in them comes out as text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from depthgauge.report.paper.cells import plain_text, right_aligned

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;"}
"""Dollars too: where formulas are known, a backslash before them is not always."""

_SPECIAL = re.compile(
    r"[\\`*_\[\]~|&<>$]"
    r"|:(?=//)|(?<=www)\."  # links without brackets
    r"|^#|^[+-](?=[ +-]|$)",  # headings and lists
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"^(\d{1,9})([.)])(?= |$)", re.ASCII)


def markdown_text(text: str) -> str:
    """The text on one line, with everything escaped that Markdown would take for markup."""
    plain = plain_text(text)
    escaped = _SPECIAL.sub(lambda found: _ENTITIES.get(found[0], f"\\{found[0]}"), plain)
    return _NUMBERED.sub(r"\1\\\2", escaped)


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table, numbers to the right."""
    ruler = ["---:" if right else "---" for right in right_aligned(rows, len(header))]
    lines = [[*map(markdown_text, header)], ruler, *([*map(markdown_text, row)] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
