"""A table as Markdown."""

from __future__ import annotations

from depthgauge.report.tables.table import Table
from depthgauge.report.writers.markdown_text import markdown_text
from depthgauge.report.writers.templates import render


def markdown_table(table: Table, *, caption: bool = False) -> str:
    """Return the table as Markdown, below its caption if `caption` is true."""
    return render(
        "writers/markdown_table.md.j2",
        caption=markdown_text(table.caption) if caption else "",
        columns=[(markdown_text(column.title), column.is_number) for column in table.columns],
        rows=[map(markdown_text, row) for row in table.texts],
    )
