"""Tables, as Markdown and in a terminal."""

from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text


def markdown_table(header: list[str], rows: list[list[str]]) -> str:
    """A table as Markdown, numbers to the right."""
    lines = [header, ["---", *("---:" for _ in header[1:])], *rows]
    escaped = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    return "".join(f"| {' | '.join(line)} |\n" for line in escaped)


def terminal_table(header: list[str], rows: list[list[str]]) -> Table:
    """The same table for a terminal; brackets in it are text, not markup.

    Where the terminal is narrow the last column is folded: that is where words are.
    """
    table = Table(box=box.SIMPLE_HEAD)
    for index, name in enumerate(header):
        last = index == len(header) - 1
        table.add_column(Text(name), justify="right" if index else "left", no_wrap=not last)
    for row in rows:
        table.add_row(*map(Text, row))
    return table
