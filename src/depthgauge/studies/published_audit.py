"""The published main audit, and what was measured beside it, like with like."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from depthgauge.config import SCHEMA_VERSION, NetConfig
from depthgauge.studies.published import (
    Comparison,
    check_network,
    compare,
    published,
    unlike_published,
)

SEED = 42
"""Norms, stability and Γ were published for this seed alone."""

PUBLISHED_AS = {"ep": None, "ep[credit=displacement]": "ep"}
"""The record's Equilibrium Propagation took the displacement for the credit; ours does not."""


def _figures(figures: dict[str, Any], method: str) -> dict[str, Any]:
    """What was published of a method; empty if nothing was."""
    name = PUBLISHED_AS.get(method, method)
    found: dict[str, Any] = figures.get(name, {}) if name is not None else {}
    return found


def check_published(net: NetConfig) -> None:
    """Refuse a network of which no audit was published."""
    check_network(net, published()["main_audit"]["config"], "audit")


def compare_audit(document: dict[str, Any]) -> dict[str, Any]:
    """Accuracies with their prediction interval; norms, stability and Γ of one seed; verdicts.

    Gradient norms are compared for the mean loss of a batch of 128, Γ in the record's pairing:
    that is how they were published.
    """
    figures, config = published()["main_audit"], document["config"]
    unlike = unlike_published(config, figures["config"]["epochs"])
    return {
        "schema_version": SCHEMA_VERSION,
        "unlike": unlike,
        "accuracies": [asdict(one) for one in _accuracies(document, figures, not unlike)],
        "one_seed": _one_seed(document, figures),
        "verdicts": [
            {
                "what": method,
                "measured": entry["verdict_in_words"],
                "published": _figures(figures, method).get("verdict"),
            }
            for method, entry in document["verdicts"].items()
        ],
    }


def _accuracies(document: dict[str, Any], figures: dict[str, Any], alike: bool) -> list[Comparison]:
    found = []
    for method in document["verdicts"]:
        rows = [row for row in document["summary"] if row["method"] == method]
        values = [row["acc"] for row in rows if row["acc"] is not None]
        frozen = [row["frozen_acc"] for row in rows if row["frozen_acc"] is not None]
        published_accuracy = _figures(figures, method).get("accuracy")
        if values and published_accuracy is not None:
            found.append(compare(method, values, published_accuracy, alike))
        if frozen and method == "dfa":
            figure = figures["frozen"]["accuracy"]
            found.append(compare("dfa, blocks frozen", frozen, figure, alike))
    return found


def _one_seed(document: dict[str, Any], figures: dict[str, Any]) -> list[dict[str, Any]]:
    """Each published list of numbers beside the same numbers, measured."""
    rows = []
    for method in document["verdicts"]:
        report = document["reports"].get(f"{method}_s{SEED}")
        if report is None:
            continue
        scale = _figures(figures["scale_seed42_N128"], method)
        gamma = report["readings"].get("alignment_record", {}).get("per_layer")
        own = _figures(figures, method)
        stability = figures["stability_seed42"]
        pairs = [
            ("‖h_l‖, l = 0 … L", report["residual_norms"], scale.get("h")),
            ("‖h_L‖", report["residual_norms"][-1:], _listed(scale.get("h_L"))),
            ("‖g_l‖ for N = 128", report["bp_grad_norms_n128"], scale.get("g")),
            (
                "stability",
                [report["cross_batch_stability"]],
                _listed(stability.get(PUBLISHED_AS.get(method, method))),
            ),
            ("Γ, record, l = 0 … L", gamma, own.get("gamma_layers_0_to_4")),
            ("Γ, record, blocks", gamma and gamma[:-1], own.get("gamma_per_block")),
        ]
        rows += [
            {"what": f"{method}: {what}", "measured": measured, "published": figure}
            for what, measured, figure in pairs
            if figure is not None and measured is not None
        ]
    return rows


def _listed(value: float | None) -> list[float] | None:
    return None if value is None else [value]
