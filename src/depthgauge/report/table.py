"""Tables, as Markdown and in a terminal."""

from __future__ import annotations

from rich import box
from rich.table import Table


def markdown_table(header: list[str], rows: list[list[str]]) -> str:
    """A table as Markdown, numbers to the right."""
    lines = [header, ["---", *("---:" for _ in header[1:])], *rows]
    escaped = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    return "".join(f"| {' | '.join(line)} |\n" for line in escaped)


def terminal_table(header: list[str], rows: list[list[str]], title: str) -> Table:
    """The same table for a terminal."""
    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", title_style="")
    for index, name in enumerate(header):
        table.add_column(name, justify="right" if index else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table
