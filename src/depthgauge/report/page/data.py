"""What the page's charts are drawn from, as one JSON document."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from depthgauge.report.page.series import packed_series
from depthgauge.report.palette import looks
from depthgauge.store.files import finite
from depthgauge.studies.gathered import Gathered, GatheredRun
from depthgauge.studies.read_networks import ReadNetwork
from depthgauge.studies.rule_views import RuleView, Rung
from depthgauge.verdict.thresholds import Thresholds

UNBOUNDED = "Infinity"
"""What JSON has no number for, as the page's script calls it."""


def page_data(study: Gathered, views: Sequence[RuleView]) -> dict[str, Any]:
    """Rules with their ladders and networks, runs with their epochs; what is not finite is null."""
    found = looks([view.method for view in views])
    document: dict[str, Any] = {
        "blocks": study.base.get("net", {}).get("blocks"),
        "chance": study.chance,
        "thresholds": dict(study.thresholds),
        "rules": [
            {
                "method": view.method,
                "control": view.control,
                "verdict": view.verdict,
                "look": asdict(found[view.method]),
                "ladder": [_rung(rung) for rung in view.ladder],
                "diagnostics": {d["name"]: _diagnostic(d) for d in view.diagnostics},
                "networks": [_network(network) for network in view.networks],
            }
            for view in views
        ],
        "runs": [_run(run, study.thresholds) for run in study.runs],
    }
    plain: dict[str, Any] = finite(document)
    return plain | {"series": packed_series(study.runs)}


def _rung(rung: Rung) -> dict[str, Any]:
    return {
        "k": rung.k,
        "mean": rung.mean,
        "low": rung.interval.low if rung.interval else None,
        "high": rung.interval.high if rung.interval else None,
        "lost": rung.lost,
        "seeds": [[run.config.seed, run.accuracy, run.identity] for run in rung.runs],
        "blocks": rung.runs[0].config.net.blocks if rung.runs else None,
    }


def _diagnostic(diagnostic: dict[str, Any]) -> dict[str, Any]:
    return {name: diagnostic[name] for name in ("finding", "intervals")}


def _network(network: ReadNetwork) -> dict[str, Any]:
    names = ("seed", "run", "accuracy", "growth", "gradient", "stability", "gain", "diverged")
    read = {name: getattr(network, name) for name in names}
    if read["growth"] == math.inf:
        read["growth"] = UNBOUNDED
    return read | _credit(network.report) | {"readings": _readings(network.report)}


def _readings(report: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Every reading of a network, for its dialog; by what was published where its key says so."""
    shown = ("value", "per_layer", "unit", "convention", "measured_on", "note")
    found = report["readings"] if report else {}
    return [
        {"name": reading["name"] + (", as in the record" if key.endswith("_record") else "")}
        | {name: reading[name] for name in shown}
        for key, reading in found.items()
        if "value" in reading
    ]


def _credit(report: dict[str, Any] | None) -> dict[str, Any]:
    """Γ, its null and ρ, as far as they were read."""
    readings = report["readings"] if report else {}
    null = readings.get("null")
    credit: dict[str, Any] = {
        "alignment": readings.get("alignment", {}).get("per_layer"),
        "perturbation": readings.get("perturbation", {}).get("per_layer"),
        "lesion": readings.get("lesion", {}).get("per_layer"),
        "null": None,
    }
    if null:
        credit["null"] = {
            "mean": [layer["mean"] for layer in null["per_layer"]],
            "spread": [layer["spread"] for layer in null["per_layer"]],
            "fresh": [round(value, 5) for value in null["fresh_deep"] if value is not None],
            "words": [layer["word"] for layer in null["per_layer"]],
            **{name: null["deep"][name] for name in ("observed", "p_upper", "word")},
        }
    return credit


def _run(run: GatheredRun, thresholds: Thresholds) -> dict[str, Any]:
    """Of a run what tables and dialogs show; its epochs are packed elsewhere."""
    config = run.config
    return {
        "id": run.identity,
        "method": run.method,
        "k": config.k,
        "seed": config.seed,
        "blocks": config.net.blocks,
        "state": run.state,
        "accuracy": run.accuracy,
        "reason": run.reason,
        "fired": run.first_fired(thresholds),
        "config": config.model_dump(mode="json"),
        "provenance": run.provenance,
    }
