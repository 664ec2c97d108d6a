"""What the page's charts are drawn from, as one JSON document."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from depthgauge.diagnosis.report import Report
from depthgauge.diagnostics.finding import Finding
from depthgauge.diagnostics.registry import quantities
from depthgauge.gauges.null import NullReading
from depthgauge.gauges.reading import Reading
from depthgauge.report.page.diagnostic_charts import marks, panels, recorded
from depthgauge.report.page.series import packed_series
from depthgauge.report.palette import looks
from depthgauge.report.tables.diagnostic_columns import measured
from depthgauge.results.ladder import Rung
from depthgauge.results.network import NetworkResult
from depthgauge.results.run import RunResult
from depthgauge.results.study import StudyResult
from depthgauge.store.files import finite
from depthgauge.verdict.thresholds import Thresholds

UNBOUNDED = "Infinity"
"""What JSON has no number for, as the page's script calls it."""


def page_data(study: StudyResult) -> dict[str, Any]:
    """Rules with their ladders and networks, runs with their epochs; what is not finite is null."""
    found = looks([view.label for view in study.rules.values()])
    document: dict[str, Any] = {
        "blocks": study.config.net.blocks if study.config.net else None,
        "chance": study.chance,
        "floors": study.floors.lines if study.floors else {},
        "panels": panels(study.thresholds),
        "recorded": recorded(study.thresholds),
        "marks": {name: symbol for name, (symbol, _) in marks().items()},
        "rules": [
            {
                "method": view.label,
                "control": view.control,
                "verdict": view.verdict.word,
                "look": asdict(found[view.label]),
                "ladder": [_rung(rung) for rung in view.ladder],
                "twins": [_rung(rung) for rung in view.twins],
                "diagnostics": {
                    d.id: {
                        "finding": d.outcome,
                        "intervals": _intervals(d),
                    }
                    for d in (*view.findings, *view.verdict.besides)
                },
                "networks": [_network(network) for network in view.networks],
            }
            for view in study.rules.values()
        ],
        "runs": [_run(run, study.thresholds) for run in study.runs],
    }
    plain: dict[str, Any] = finite(document)
    return plain | {"series": packed_series(study.runs)}


def _intervals(finding: Finding) -> dict[str, Any]:
    """Those that say something."""
    known = quantities()
    return {
        name: asdict(interval)
        for name, interval in finding.intervals.items()
        if not (finding.straddles and name in known and known[name].is_too_wide(interval))
    }


def _rung(rung: Rung) -> dict[str, Any]:
    return {
        "k": rung.k,
        "mean": rung.mean,
        "low": rung.ends[0] if rung.ends else None,
        "high": rung.ends[1] if rung.ends else None,
        "lost": rung.lost,
        "seeds": [[seed, value, rung.runs[seed]] for seed, value in rung.accuracies.items()],
        "blocks": rung.blocks if rung.accuracies else None,
    }


def _network(network: NetworkResult) -> dict[str, Any]:
    names = ("seed", "run", "accuracy", "diverged")
    known = {name: getattr(network, name) for name in names}
    read = {name: measured(network, quantity) for name, quantity in quantities().items()}
    return (
        known
        | {"read": {n: UNBOUNDED if value == math.inf else value for n, value in read.items()}}
        | _credit(network.report)
        | {"readings": _readings(network.report)}
    )


def _readings(report: Report | None) -> list[dict[str, Any]]:
    """Every reading of a network, for its dialog; by what was published where its key says so."""
    shown = ("value", "per_layer", "unit", "convention", "measured_on", "note")
    found = report.readings if report else {}
    return [
        {"name": reading.name + (", as published" if key.endswith("_published") else "")}
        | {name: getattr(reading, name) for name in shown}
        for key, reading in found.items()
        if isinstance(reading, Reading)
    ]


def _credit(report: Report | None) -> dict[str, Any]:
    """Γ, its null and ρ, as far as they were read."""
    alignment, perturbation = (
        (report.alignment, report.perturbation) if report is not None else (None, None)
    )
    return {
        "alignment": alignment.per_layer if alignment else None,
        "perturbation": perturbation.per_layer if perturbation else None,
        "lesion": report.lesion.per_layer if report else None,
        "rewind": report.rewind.per_layer if report and report.rewind else None,
        "null": _null(report.null) if report and report.null else None,
    }


def _null(null: NullReading) -> dict[str, Any]:
    return {
        "mean": [layer.mean for layer in null.per_layer],
        "spread": [layer.spread for layer in null.per_layer],
        "fresh": [round(value, 5) for value in null.fresh_deep if math.isfinite(value)],
        "words": [layer.word for layer in null.per_layer],
        **{name: getattr(null.deep, name) for name in ("observed", "p_upper", "word")},
    }


def _run(run: RunResult, thresholds: Thresholds) -> dict[str, Any]:
    """Of a run what tables and dialogs show; its epochs are packed elsewhere."""
    config = run.config
    return {
        "id": run.identity,
        "method": run.label,
        "k": config.k,
        "rung": config.rung,
        "follows": config.is_rung,
        "seed": config.seed,
        "blocks": config.net.blocks,
        "state": run.state,
        "accuracy": run.accuracy,
        "reason": run.reason,
        "fired": run.first_fired(thresholds),
        "config": config.model_dump(mode="json"),
        "provenance": run.provenance,
    }
