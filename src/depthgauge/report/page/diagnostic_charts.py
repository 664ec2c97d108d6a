"""The facts of the diagnostics' charts, as the page's scripts take them."""

from __future__ import annotations

from typing import Any

from depthgauge.diagnostics.contract import Threshold
from depthgauge.diagnostics.registry import diagnostics
from depthgauge.verdict.thresholds import Thresholds

MARKS = (
    ("x-thin", "✕"),
    ("cross-thin", "+"),
    ("asterisk-thin", "✱"),
    ("hash-thin", "#"),
    ("y-up-thin", "⅄"),
    ("y-down-thin", "Y"),
)
"""What stands where a diagnostic first fired: as the chart library calls it, and as a letter."""


def chart_id(diagnostic: str) -> str:
    """Return the id of the element that holds a diagnostic's chart."""
    return f"audit-{diagnostic}"


def panels(used: Thresholds) -> list[dict[str, Any]]:
    """Return what the panels of the audit need: one for each diagnostic that has a chart."""
    return [
        {
            "id": chart_id(one.id),
            "diagnostic": one.id,
            "name": one.name,
            "axis": one.chart.axis,
            "word": one.chart.word,
        }
        | _facts(one.chart.threshold, used)
        for one in diagnostics()
        if one.chart is not None
    ]


def recorded(used: Thresholds) -> list[dict[str, Any]]:
    """Return what can be shown over training: every quantity that is recorded and has a limit."""
    return [
        {"title": f"{threshold.quantity.label} ({one.id})", "diagnostic": one.id}
        | _facts(threshold, used)
        for one in diagnostics()
        for threshold in one.thresholds
        if threshold.quantity.from_epoch is not None
    ]


def marks() -> dict[str, tuple[str, str]]:
    """Return the mark of each diagnostic that is looked at after every epoch, by its id."""
    looked_at = [one.id for one in diagnostics() if one.recorded]
    return {name: MARKS[place % len(MARKS)] for place, name in enumerate(looked_at)}


def _facts(threshold: Threshold, used: Thresholds) -> dict[str, Any]:
    quantity = threshold.quantity
    return {
        "quantity": quantity.name,
        "limit": quantity.factor * used[threshold.name],
        "fires": threshold.fires,
        "log": quantity.log,
        "factor": quantity.factor,
        "unit": quantity.unit,
    }
