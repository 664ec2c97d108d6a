"""Audits that earlier versions wrote, in today's form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from depthgauge.diagnosis.report import lifted_finding


def lifted_audit(old: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of an `audit.json` of the first version as the second has it."""
    config = dict(old["config"])
    shared = {name: config[name] for name in SHARED if name in config}
    return {
        "schema_version": 2,
        "config": shared,
        "chance": config["chance"],
        "bp_gain": config["bp_depth_gain"],
        "thresholds": old["thresholds"],
        "provenance": old["provenance"],
        "verdicts": {label: _verdict(entry) for label, entry in old["verdicts"].items()},
        "networks": [_network(row, old["reports"]) for row in old["summary"]],
        "decision_utility": old["decision_utility"],
        "untrained": {key.rpartition("_s")[2]: one for key, one in old["controls"].items()},
        "shallow": {label: _shallow(entry) for label, entry in old.get("shallow", {}).items()},
        "selection": {label: _selection(one) for label, one in old.get("selection", {}).items()},
    }


SHARED = ("task", "net", "recipe", "checkpoints", "frozen_acc")


def _verdict(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "rule": entry.get("rule"),
        "control": entry.get("control"),
        "seeds": entry["seeds"],
        "diverged_seeds": entry["diverged_seeds"],
        "accuracy": entry["acc"],
        "frozen": entry["frozen_acc"],
        "word": entry["verdict"],
        "findings": [lifted_finding(one) for one in entry["diagnostics"]],
        "sensitivity": entry["sensitivity"],
    }


def _network(row: Mapping[str, Any], reports: Mapping[str, Any]) -> dict[str, Any]:
    source = dict(row["source"])
    for name in ("run", "frozen_run"):
        source[name] = _identity(source.get(name))
    return {
        "label": row["method"],
        "seed": row["seed"],
        "accuracy": row["acc"],
        "frozen": row["frozen_acc"],
        "first_fired": row["first_fired"] or {},
        "source": source,
        "report": reports.get(f"{row['method']}_s{row['seed']}"),
    }


def _identity(run: str | None) -> str | None:
    return None if run is None else run.removeprefix("runs/")


def _shallow(entry: Mapping[str, Any]) -> dict[str, Any]:
    seeds = entry["seeds"].items()
    return {
        "accuracy": entry["acc"],
        "accuracies": {seed: one["acc"] for seed, one in seeds},
        "runs": {seed: _identity(one["run"]) for seed, one in seeds},
    }


def _selection(entry: Mapping[str, Any]) -> dict[str, Any]:
    candidates = {
        label: {
            "accuracy": {name: one[name] for name in ("mean", "std", "n")},
            "lost": one["lost"],
            "runs": one["runs"],
        }
        for label, one in entry["candidates"].items()
    }
    return {"chosen": entry["chosen"], "candidates": candidates, "samples": entry["samples"]}
