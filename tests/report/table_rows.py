"""Tables as lists of rows by column."""

from __future__ import annotations

from depthgauge.report.tables.table import Cell, Table


def columns(table: Table) -> list[dict[str, str]]:
    """Return each row as texts by title."""
    return [dict(zip(table.titles, row, strict=True)) for row in table.texts]


def cells(table: Table) -> list[dict[str, Cell]]:
    """Return each row as cells by title."""
    return [dict(zip(table.titles, row, strict=True)) for row in table.rows]
