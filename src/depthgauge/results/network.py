"""A network with all its blocks trained, and its readings."""

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
    """A network with all its blocks trained, and its readings.

    Attributes:
        label, seed: the label of its rule, and its seed.
        run, frozen_run: the ids of the runs that trained the network and its frozen baseline; None
            for a network from elsewhere, or without a baseline.
        accuracy, frozen: the accuracies of the network and of its frozen baseline, on the whole
            evaluation split.
        readings: the readings of the diagnostics by name; for a diverged network, the values that
            stand for divergence.
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
        """Return the accuracy minus the accuracy of the frozen baseline of the same seed."""
        if self.accuracy is None or self.frozen is None:
            return None
        return self.accuracy - self.frozen


def audited_network(network: AuditedNetwork, known: Collection[str]) -> NetworkResult:
    """Return the result of an audited network; only ids of runs that are `known` are kept."""
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
    """Return the network that a done run trained, with the readings of the last epoch."""
    epochs = readings_from_metrics(run.epochs)
    readings = dict(epochs[-1].values) if epochs else {}
    if run.state == "diverged":
        readings = diverged_readings()
    learns = run.config.recipe.targets == "true"
    baseline = frozen.accuracy if frozen and learns else None
    if run.accuracy is not None and baseline is not None:
        readings["depth_gain"] = run.accuracy - baseline
        if run.right is not None:
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
    """Return the mean gain from depth of the setting with the highest mean accuracy.

    Each network is given as label, accuracy and frozen accuracy. If no network has both
    accuracies, return None.
    """
    settings: dict[str, list[tuple[float, float]]] = {}
    for label, accuracy, frozen in networks:
        if accuracy is not None and frozen is not None:
            settings.setdefault(label, []).append((accuracy, accuracy - frozen))
    means = [tuple(map(statistics.fmean, zip(*pairs, strict=True))) for pairs in settings.values()]
    return max(means)[1] if means else None
