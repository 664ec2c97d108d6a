"""What is known of a network layer by layer, at the end of its training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from depthgauge.studies.gathered import Gathered, GatheredRun
from depthgauge.studies.read_networks import ReadNetwork

SPREADS = 2
"""The null band reaches this many spreads from its mean."""

Values = Mapping[int, float | None]


@dataclass(frozen=True)
class ByLayer:
    """Norms at layers 0 … L; of the credit's readings, the embedding comes first."""

    stream: Values = field(default_factory=dict)
    gradient: Values = field(default_factory=dict)
    alignment: Values = field(default_factory=dict)
    null_low: Values = field(default_factory=dict)
    null_high: Values = field(default_factory=dict)
    perturbation: Values = field(default_factory=dict)


def by_layer(study: Gathered, networks: Sequence[ReadNetwork]) -> list[ByLayer]:
    """Norms from the last epoch of a network's run, or from the audit where it has no run."""
    runs = {run.identity: run for run in study.runs}
    return [_of_network(network, runs.get(network.run or "")) for network in networks]


def _of_network(network: ReadNetwork, run: GatheredRun | None) -> ByLayer:
    report: dict[str, Any] = network.report or {}
    last = run.lines[-1] if run and run.lines else {}
    readings = report.get("readings", {})
    null = (readings.get("null") or {}).get("per_layer") or []
    return ByLayer(
        stream=_numbered(last.get("h_norm") or report.get("residual_norms")),
        gradient=_numbered(last.get("g_norm") or report.get("bp_grad_norms")),
        alignment=_numbered((readings.get("alignment") or {}).get("per_layer")),
        null_low=_numbered([_edge(layer, -SPREADS) for layer in null]),
        null_high=_numbered([_edge(layer, SPREADS) for layer in null]),
        perturbation=_numbered((readings.get("perturbation") or {}).get("per_layer")),
    )


def _numbered(values: Sequence[float | None] | None) -> Values:
    return dict(enumerate(values or ()))


def _edge(layer: Mapping[str, Any], spreads: int) -> float | None:
    mean, spread = layer["mean"], layer["spread"]
    return None if mean is None or spread is None else float(mean + spreads * spread)
