"""Text as Markdown, escaped so that nothing in it is taken for markup."""

from __future__ import annotations

import re

from depthgauge.report.writers.plain_text import plain_text

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;"}
"""A dollar is an entity, because some programs that show formulas ignore a backslash before it."""

_SPECIAL = re.compile(
    r"[\\`*_\[\]~|&<>$]"
    r"|:(?=//)|(?<=www)\."  # links without brackets
    r"|^#|^[+-](?=[ +-]|$)",  # headings and lists
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"^(\d{1,9})([.)])(?= |$)", re.ASCII)


def markdown_text(text: str) -> str:
    """Return the text on one line; what Markdown would take for markup is escaped."""
    plain = plain_text(text)
    escaped = _SPECIAL.sub(lambda found: _ENTITIES.get(found[0], f"\\{found[0]}"), plain)
    return _NUMBERED.sub(r"\1\\\2", escaped)
