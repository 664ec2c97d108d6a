"""Conversion of audits of schema version 1: each function returns a part in the current form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from depthgauge.diagnosis.report_version_1 import lift_finding
from depthgauge.results.audit_parts import AuditedNetwork, RuleVerdict, Selection, ShallowRule


def lift_verdict(entry: Mapping[str, Any]) -> RuleVerdict:
    """Return a verdict; version 1 had other names for the accuracies and the word."""
    return RuleVerdict.model_validate(
        {
            "rule": entry.get("rule"),
            "control": entry.get("control"),
            "seeds": entry["seeds"],
            "diverged_seeds": entry["diverged_seeds"],
            "accuracy": entry["acc"],
            "frozen": entry["frozen_acc"],
            "word": entry["verdict"],
            "findings": [lift_finding(finding) for finding in entry["diagnostics"]],
            "sensitivity": entry["sensitivity"],
        }
    )


def lift_network(row: Mapping[str, Any], reports: Mapping[str, Any]) -> AuditedNetwork:
    """Return a network with its report; version 1 stored `reports` by label and seed."""
    runs = {name: _identity(row["source"].get(name)) for name in ("run", "frozen_run")}
    return AuditedNetwork.model_validate(
        {
            "label": row["method"],
            "seed": row["seed"],
            "accuracy": row["acc"],
            "frozen": row["frozen_acc"],
            "first_fired": row["first_fired"] or {},
            "source": row["source"] | runs,
            "report": reports.get(f"{row['method']}_s{row['seed']}"),
        }
    )


def lift_shallow(entry: Mapping[str, Any]) -> ShallowRule:
    """Return a rule without blocks; version 1 stored a pair (accuracy, run) for each seed."""
    seeds = entry["seeds"].items()
    return ShallowRule.model_validate(
        {
            "accuracy": entry["acc"],
            "accuracies": {seed: run["acc"] for seed, run in seeds},
            "runs": {seed: _identity(run["run"]) for seed, run in seeds},
        }
    )


def lift_selection(entry: Mapping[str, Any]) -> Selection:
    """Return a selection; version 1 stored the spread of a candidate beside its runs."""
    candidates = {
        label: {
            "accuracy": {name: candidate[name] for name in ("mean", "std", "n")},
            "lost": candidate["lost"],
            "runs": candidate["runs"],
        }
        for label, candidate in entry["candidates"].items()
    }
    return Selection.model_validate(
        {"chosen": entry["chosen"], "candidates": candidates, "samples": entry["samples"]}
    )


def _identity(run: str | None) -> str | None:
    return None if run is None else run.removeprefix("runs/")
