"""A table as LaTeX, in the style of booktabs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from depthgauge.report.tables.table import Column, Table
from depthgauge.report.writers.latex_text import latex_text
from depthgauge.report.writers.templates import render

PACKAGES = "% \\usepackage{booktabs,textcomp,graphicx}\n"
"""The packages that the preamble must load, as a comment above the table."""

ROWS_ON_A_PAGE = 40
LONG_NAME, LONG_CELL = 40, 24
"""Most characters of a cell on one line, in the first column and in the others."""


def latex_table(table: Table, study: str) -> str:
    """Return a table as LaTeX, with a label made of the names of study and table.

    A table with more rows than a page holds becomes several `table` environments.
    """
    starts = range(0, len(table.rows), ROWS_ON_A_PAGE)
    parts = [table.texts[start : start + ROWS_ON_A_PAGE] for start in starts] or [[]]
    label, columns = f"tab:{study}-{table.name}", _columns(table)
    if len(parts) == 1:
        return PACKAGES + _environment(table, parts[0], columns, table.caption, label)
    return PACKAGES + "\n".join(
        _environment(
            table,
            part,
            columns,
            f"{table.caption} Part {number} of {len(parts)}.",
            f"{label}-{number}",
        )
        for number, part in enumerate(parts, start=1)
    )


def _environment(
    table: Table, rows: Sequence[Sequence[str]], columns: Sequence[str], caption: str, label: str
) -> str:
    return render(
        "writers/latex_table.tex.j2",
        caption=latex_text(caption),
        label=re.sub("[^A-Za-z0-9:]+", "-", label),
        columns="".join(columns),
        titles=_cells(table.titles, columns),
        rows=[_cells(row, columns) for row in rows],
    )


def _columns(table: Table) -> list[str]:
    """Return the LaTeX type of each column: numbers to the right, words to the left."""
    return [_kind(column, place, table) for place, column in enumerate(table.columns)]


def _kind(column: Column, place: int, table: Table) -> str:
    if column.is_number:
        return "r"
    limit = LONG_CELL if place else LONG_NAME
    longest = max(len(row[place]) for row in (table.titles, *table.texts))
    return rf"p{{{limit // 2}em}}" if longest > limit else "l"


def _cells(texts: Sequence[str], columns: Sequence[str]) -> list[str]:
    return [
        (r"\raggedright " if column.startswith("p") else "") + latex_text(text)
        for text, column in zip(texts, columns, strict=True)
    ]
