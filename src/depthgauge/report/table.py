"""Tables in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text


def terminal_table(header: Sequence[str], rows: Sequence[Sequence[str | Text]]) -> Table:
    """A table for a terminal; brackets in it are text, not markup.

    Cells that come as `Text` keep their style; a column with such cells is of words, which begin
    at the left. Where the terminal is narrow the widest columns are folded, and nothing is cut.
    """
    table = Table(box=box.SIMPLE_HEAD)
    for index, name in enumerate(header):
        words = index == 0 or any(isinstance(row[index], Text) for row in rows)
        table.add_column(Text(name), justify="left" if words else "right", overflow="fold")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in row))
    return table
