"""The charts of a page, with their data stored by column to keep pages of large studies small."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

from depthgauge.report.charts.panel import Panel

DIGITS = 4
"""Significant digits: more than a chart can show."""


def chart_data(panels: Iterable[Panel]) -> dict[str, Any]:
    """Return the specification of each chart by the id of its element, and the data by name."""
    specifications: dict[str, Any] = {}
    rows: dict[str, Any] = {}
    for panel in panels:
        datasets = panel.datasets()
        specifications[panel.id] = {"spec": panel.for_page(), "rows": list(datasets)}
        rows |= {name: columns(some) for name, some in datasets.items()}
    return {"charts": specifications, "rows": rows}


def columns(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the columns of a list of rows, all of which have the same fields.

    A column is a list of values, or `{"runs": [(value, count), ...]}` if values repeat so often
    that this is shorter.
    """
    return {name: _column([_rounded(row[name]) for row in rows]) for name in rows[0]}


def _column(values: list[Any]) -> Any:
    equal = [(value, len(list(group))) for value, group in itertools.groupby(values)]
    return {"runs": equal} if 2 * len(equal) < len(values) else values


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        rounded = float(f"{value:.{DIGITS}g}")
        return rounded if math.isfinite(rounded) else value
    return [_rounded(part) for part in value] if isinstance(value, list) else value
