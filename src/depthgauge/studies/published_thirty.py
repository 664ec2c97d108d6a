"""The published thirty-epoch runs, plain and penalised, and what was measured beside them."""

from __future__ import annotations

from collections.abc import Callable
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

PENALISED = "[penalty=0.01]"
RULES = [
    *("bp", "dfa", "state_bridge", "credit_bridge", "ep", "ep[credit=displacement]"),
    *(rule + PENALISED for rule in ("bp", "dfa", "state_bridge", "credit_bridge")),
    *(f"{rule}[{control}]" for rule in ("bp", "dfa") for control in ("shallow", "wide_block")),
]
"""What was run for thirty epochs; both forms of Equilibrium Propagation, and the baselines."""

SEED = 42
"""State Bridge without a penalty and the alignment layer by layer were published for it alone."""

Value = Callable[[dict[str, Any]], float | None]


def check_thirty(net: NetConfig) -> None:
    """Refuse a network of which nothing was published at thirty epochs."""
    check_network(net, published()["thirty_epochs"]["config"], "study of 30 epochs")


def compare_thirty(document: dict[str, Any]) -> dict[str, Any]:
    """Accuracies, deep Γ and deep ρ in the record's convention, with their prediction intervals."""
    figures = published()["thirty_epochs"]
    unlike = unlike_published(document["config"], figures["config"]["epochs"])
    accuracies = {rule: figures[rule] for rule in ("bp", "dfa")}
    accuracies |= _labelled(figures["penalised_lambda_0.01"])

    def compared(figures: dict[str, Any], value: Value) -> list[dict[str, Any]]:
        found = (_compare(document, label, f, value, not unlike) for label, f in figures.items())
        return [asdict(one) for one in found if one is not None]

    return {
        "schema_version": SCHEMA_VERSION,
        "unlike": unlike,
        "accuracies": compared(accuracies, lambda report: report["headline_acc"]),
        "deep_alignment": compared(
            _labelled(figures["deep_cos_lambda_0.01"]),
            lambda report: _recorded(report, "alignment_record")["value"],
        ),
        "deep_perturbation": compared(
            _labelled(figures["deep_rho_lambda_0.01"]),
            lambda report: _recorded(report, "perturbation_record")["value"],
        ),
        "one_seed": _one_seed(document, figures),
    }


def _recorded(report: dict[str, Any], name: str) -> dict[str, Any]:
    """A reading in the record's convention; an audit that was not asked for it has none."""
    nothing: dict[str, Any] = {"value": None, "per_layer": None}
    found: dict[str, Any] = report["readings"].get(name, nothing)
    return found


def _labelled(figures: dict[str, Any]) -> dict[str, Any]:
    return {rule + PENALISED: figure for rule, figure in figures.items()}


def _compare(
    document: dict[str, Any], label: str, figure: list[float], value: Value, alike: bool
) -> Comparison | None:
    reports = [
        report for key, report in document["reports"].items() if key.rpartition("_s")[0] == label
    ]
    values = [found for report in reports if (found := value(report)) is not None]
    return compare(label, values, figure, alike) if values else None


def _one_seed(document: dict[str, Any], figures: dict[str, Any]) -> list[dict[str, Any]]:
    """What was published for one seed, without a spread."""
    null = published()["null_calibration"]
    bridge = document["reports"].get(f"state_bridge_s{SEED}")
    penalised = document["reports"].get(f"dfa{PENALISED}_s{SEED}")
    rows = []
    if bridge is not None:
        rows.append(
            {
                "what": "state_bridge: accuracy",
                "measured": [bridge["headline_acc"]],
                "published": [figures["state_bridge"]],
            }
        )
    if penalised is not None:
        alignment = _recorded(penalised, "alignment_record")
        rows += [
            {
                "what": f"dfa{PENALISED}: Γ, record, l = 0 … L",
                "measured": alignment["per_layer"],
                "published": null["training_B_layers_0_to_4"],
            },
            {
                "what": f"dfa{PENALISED}: Γ, record, deep",
                "measured": [alignment["value"]],
                "published": [null["training_B_deep"]],
            },
        ]
    return [row for row in rows if None not in (row["measured"], *(row["measured"] or ()))]
