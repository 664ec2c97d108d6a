"""A network with all its blocks trained, and what was read off it."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from depthgauge.diagnosis.report import Report
from depthgauge.results.audit import AuditedNetwork
from depthgauge.results.run import RunResult
from depthgauge.verdict.diagnostics import SeedReadings
from depthgauge.verdict.over_training import from_metrics
from depthgauge.verdict.thresholds import Thresholds

DIVERGED = SeedReadings(growth=math.inf, gradient=0.0, error_share=0.0)
"""A run that diverged: its stream has grown without bound, and no gradient is left."""


@dataclass(frozen=True)
class NetworkResult:
    """A network with all its blocks trained.

    Attributes:
        label, seed: which network it is.
        run, frozen_run: identities of the runs that it and its baseline came from; None for a
            network from elsewhere, or without a baseline.
        accuracy, frozen: on the whole evaluation split.
        readings: what the diagnostics need of it.
        stability: D2s, where it was read.
        first_fired: the epoch at which each diagnostic first fired in training.
        report: the audit's report of it; None where only training's metrics are there.
        diverged: whether its training diverged.
    """

    label: str
    seed: int
    accuracy: float | None
    frozen: float | None
    readings: SeedReadings | None
    run: str | None = None
    frozen_run: str | None = None
    stability: float | None = None
    first_fired: Mapping[str, int | None] = field(default_factory=dict)
    report: Report | None = None
    diverged: bool = False

    @property
    def growth(self) -> float | None:
        """D1; None where it was not read."""
        return self.readings.growth if self.readings else None

    @property
    def gradient(self) -> float | None:
        """D2; None where it was not read."""
        return self.readings.gradient if self.readings else None

    @property
    def seed_readings(self) -> SeedReadings:
        """What a verdict needs of the network; one that diverged has grown without bound."""
        return self.readings or DIVERGED

    @property
    def gain(self) -> float | None:
        """Accuracy less that of the frozen baseline of the same seed."""
        if self.accuracy is None or self.frozen is None:
            return None
        return self.accuracy - self.frozen


def audited_network(network: AuditedNetwork, known: Collection[str]) -> NetworkResult:
    """Return a network as the audit has it; it leads to those runs that are `known`."""
    source, report = network.source, network.report
    return NetworkResult(
        label=network.label,
        seed=network.seed,
        accuracy=network.accuracy,
        frozen=network.frozen,
        readings=report.seed_readings if report else None,
        run=source.run if source.run in known else None,
        frozen_run=source.frozen_run if source.frozen_run in known else None,
        stability=report.cross_batch_stability if report else None,
        first_fired=network.first_fired,
        report=report,
        diverged=report is None,
    )


def trained_network(
    run: RunResult, frozen: RunResult | None, thresholds: Thresholds
) -> NetworkResult:
    """Return the network of a run that is done, by the metrics of its last epoch."""
    epochs = from_metrics(run.epochs)
    last = epochs[-1] if epochs and run.state == "finished" else None
    learns = run.config.recipe.targets == "true"
    baseline = frozen.accuracy if frozen and learns else None
    gain = None if run.accuracy is None or baseline is None else run.accuracy - baseline
    return NetworkResult(
        label=run.label,
        seed=run.config.seed,
        accuracy=run.accuracy,
        frozen=baseline,
        readings=SeedReadings(last.growth, last.gradient, last.error_share, None, gain)
        if last
        else None,
        run=run.identity,
        frozen_run=frozen.identity if frozen else None,
        first_fired=run.first_fired(thresholds),
        diverged=run.state == "diverged",
    )
