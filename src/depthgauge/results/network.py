"""Networks with all blocks trained: their accuracy, and what the diagnostics measured on them."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from depthgauge.diagnosis.report import Report
from depthgauge.diagnostics.contract import Readings
from depthgauge.diagnostics.readings import diverged_readings
from depthgauge.gauges.depth import noise_of_gain
from depthgauge.results.audit_parts import AuditedNetwork
from depthgauge.results.run import RunResult
from depthgauge.verdict.first_fired import readings_from_metrics
from depthgauge.verdict.thresholds import Thresholds


@dataclass(frozen=True)
class NetworkResult:
    """A network with all blocks trained: its accuracy, and what the diagnostics measured on it.

    Attributes:
        label, seed: the label of its rule, and its seed.
        run: the id of the run that trained the network; None if no run of the study trained it.
        frozen_run: the id of the run with the same rule and seed, but with frozen blocks; None if
            the study does not have that run.
        accuracy: the accuracy of the network on the whole evaluation split.
        frozen: the accuracy of the same rule and seed with frozen blocks, on the same split.
        readings: what the diagnostics measured, by name. For a diverged network, these are fixed
            values that stand for divergence.
        first_fired: the epoch at which each diagnostic first fired during training; None if it
            never fired.
        report: the audit's report on the network; None if it diverged or was not audited.
        diverged: whether its training diverged.
    """

    label: str
    seed: int
    accuracy: float | None
    frozen: float | None
    readings: Readings
    run: str | None = None
    frozen_run: str | None = None
    first_fired: Mapping[str, int | None] = field(default_factory=dict)
    report: Report | None = None
    diverged: bool = False

    @property
    def gain(self) -> float | None:
        """Return the gain from depth: how much higher the accuracy is than with frozen blocks."""
        if self.accuracy is None or self.frozen is None:
            return None
        return self.accuracy - self.frozen


def audited_network(network: AuditedNetwork, known: Collection[str]) -> NetworkResult:
    """Return the result of a network that an audit has read.

    The result names a run only if the run's id is in `known`.
    """
    source, report = network.source, network.report
    return NetworkResult(
        label=network.label,
        seed=network.seed,
        accuracy=network.accuracy,
        frozen=network.frozen,
        readings=report.seed_readings if report else diverged_readings(),
        run=source.run if source.run in known else None,
        frozen_run=source.frozen_run if source.frozen_run in known else None,
        first_fired=network.first_fired,
        report=report,
        diverged=report is None,
    )


def trained_network(
    run: RunResult, frozen: RunResult | None, thresholds: Thresholds
) -> NetworkResult:
    """Return the result of a run that finished or diverged, with readings from its last epoch.

    `frozen` is the run of the same rule and seed with frozen blocks.
    """
    epochs = readings_from_metrics(run.epochs)
    readings = dict(epochs[-1].values) if epochs else {}
    if run.state == "diverged":
        readings = diverged_readings()
    learns = run.config.recipe.targets == "true"
    baseline = frozen.accuracy if frozen and learns else None
    if run.accuracy is not None and baseline is not None:
        readings["depth_gain"] = run.accuracy - baseline
        if run.right is not None and "bits" in run.right:
            noise = noise_of_gain(run.accuracy, baseline, run.right["samples"])
            readings["depth_gain_noise"] = noise
    return NetworkResult(
        label=run.label,
        seed=run.config.seed,
        accuracy=run.accuracy,
        frozen=baseline,
        readings=readings,
        run=run.identity,
        frozen_run=frozen.identity if frozen else None,
        first_fired=run.first_fired(thresholds),
        diverged=run.state == "diverged",
    )


def gain_of_most_accurate(
    networks: Iterable[tuple[str, float | None, float | None]],
) -> float | None:
    """Return the mean gain from depth at the setting with the highest mean accuracy.

    Each network is given as (label, accuracy, accuracy with frozen blocks). Networks with the same
    label have the same setting. The gain is the difference of the two accuracies. If no network has
    both accuracies, return None.
    """
    settings: dict[str, list[tuple[float, float]]] = {}
    for label, accuracy, frozen in networks:
        if accuracy is not None and frozen is not None:
            settings.setdefault(label, []).append((accuracy, accuracy - frozen))
    means = [tuple(map(statistics.fmean, zip(*pairs, strict=True))) for pairs in settings.values()]
    return max(means)[1] if means else None
