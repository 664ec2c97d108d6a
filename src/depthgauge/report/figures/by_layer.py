"""What is known of a network layer by layer, at the end of its training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from depthgauge.gauges.null import CalibratedAlignment
from depthgauge.results.network import NetworkResult
from depthgauge.results.run import RunResult
from depthgauge.results.study import StudyResult

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


def by_layer(study: StudyResult, networks: Sequence[NetworkResult]) -> list[ByLayer]:
    """Norms from the last epoch of a network's run, or from the audit where it has no run."""
    runs = {run.identity: run for run in study.runs}
    return [_of_network(network, runs.get(network.run or "")) for network in networks]


def _of_network(network: NetworkResult, run: RunResult | None) -> ByLayer:
    last = run.epochs[-1] if run and run.epochs else None
    stream, gradient = (last.get("h_norm"), last.get("g_norm")) if last else (None, None)
    report = network.report
    if report is None:
        return ByLayer(stream=_numbered(stream), gradient=_numbered(gradient))
    null = report.null.per_layer if report.null else ()
    return ByLayer(
        stream=_numbered(stream or report.residual_norms),
        gradient=_numbered(gradient or report.bp_grad_norms),
        alignment=_numbered(report.alignment.per_layer if report.alignment else ()),
        null_low=_numbered([_edge(layer, -SPREADS) for layer in null]),
        null_high=_numbered([_edge(layer, SPREADS) for layer in null]),
        perturbation=_numbered(report.perturbation.per_layer if report.perturbation else ()),
    )


def _numbered(values: Sequence[float | None] | None) -> Values:
    return dict(enumerate(values or ()))


def _edge(layer: CalibratedAlignment, spreads: int) -> float | None:
    mean, spread = layer.mean, layer.spread
    return None if mean is None or spread is None else float(mean + spreads * spread)
