"""The parts of an audit that an earlier version wrote, in today's form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from depthgauge.diagnosis.report import lifted_finding
from depthgauge.results.audit_parts import AuditedNetwork, RuleVerdict, Selection, ShallowRule


def verdict_before(entry: Mapping[str, Any]) -> RuleVerdict:
    """Return a verdict; its accuracies and its word had other names."""
    return RuleVerdict.model_validate(
        {
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
    )


def network_before(row: Mapping[str, Any], reports: Mapping[str, Any]) -> AuditedNetwork:
    """Return a network with its report, which stood apart, by label and seed."""
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


def shallow_before(entry: Mapping[str, Any]) -> ShallowRule:
    """Return a rule without blocks; accuracy and run stood together for each seed."""
    seeds = entry["seeds"].items()
    return ShallowRule.model_validate(
        {
            "accuracy": entry["acc"],
            "accuracies": {seed: one["acc"] for seed, one in seeds},
            "runs": {seed: _identity(one["run"]) for seed, one in seeds},
        }
    )


def selection_before(entry: Mapping[str, Any]) -> Selection:
    """Return a selection; the spread of a candidate stood beside its runs."""
    candidates = {
        label: {
            "accuracy": {name: one[name] for name in ("mean", "std", "n")},
            "lost": one["lost"],
            "runs": one["runs"],
        }
        for label, one in entry["candidates"].items()
    }
    return Selection.model_validate(
        {"chosen": entry["chosen"], "candidates": candidates, "samples": entry["samples"]}
    )


def _identity(run: str | None) -> str | None:
    return None if run is None else run.removeprefix("runs/")
