"""The data that a page gives to its scripts: every run, its readings, and the charts."""

from __future__ import annotations

from typing import Any

from depthgauge.diagnosis.report import Report
from depthgauge.gauges.reading import Reading
from depthgauge.report.page.chart_data import chart_data
from depthgauge.report.page.charts import PageCharts
from depthgauge.results.run import RunResult
from depthgauge.results.study import StudyResult
from depthgauge.store.files import finite

SHOWN = ("value", "per_layer", "unit", "convention", "measured_on", "note")
"""The fields of a reading that the window of a run shows."""


def page_data(study: StudyResult, charts: PageCharts) -> dict[str, Any]:
    """Return the page's data as one JSON document; numbers that are not finite become null."""
    read = {
        network.run: _readings(network.report)
        for rule in study.rules.values()
        for network in rule.networks
        if network.run is not None and network.report is not None
    }
    document = {"runs": {run.identity: _run(run) for run in study.runs}, "readings": read}
    plain: dict[str, Any] = finite(document)
    return plain | chart_data(charts.panels)


def _run(run: RunResult) -> dict[str, Any]:
    config = run.config
    return {
        "rule": run.label,
        "rung": config.rung,
        "seed": config.seed,
        "state": run.state,
        "accuracy": run.accuracy,
        "epochs": run.epochs[-1]["epoch"] if run.epochs else 0,
        "reason": run.reason,
        "config": config.model_dump(mode="json"),
        "provenance": run.provenance,
    }


def _readings(report: Report) -> list[dict[str, Any]]:
    """Return every reading of a network.

    If a reading was taken by the published convention, its name ends in `, as published`.
    """
    return [
        {"name": reading.name + (", as published" if key.endswith("_published") else "")}
        | {name: getattr(reading, name) for name in SHOWN}
        for key, reading in report.readings.items()
        if isinstance(reading, Reading)
    ]
