"""Tables as lists of rows by column."""

from __future__ import annotations

from depthgauge.report.audit_table import Table


def columns(table: Table) -> list[dict[str, str]]:
    header, rows = table
    assert all(len(row) == len(header) for row in rows)
    return [dict(zip(header, row, strict=True)) for row in rows]
