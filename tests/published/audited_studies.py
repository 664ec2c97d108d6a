"""Studies with an audit, made without training, to be compared with published figures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from auditing.audited_networks import alignment_of, audit_of, audited

from depthgauge.auditing.gauge_readings import NetworkReport
from depthgauge.config import NetConfig, Recipe, SharedConfig, TaskConfig
from depthgauge.results.study import StudyResult

SEED = 42
LAYERS = (0.3, 0.1, 0.2, 0.1, 0.2)


def network(
    label: str,
    accuracy: float,
    alignment: float | None = None,
    rho: float | None = None,
    *,
    seed: int = SEED,
) -> NetworkReport:
    """Return a network with Γ and ρ by the published conventions."""
    one = audited(label, seed, accuracy, 0.3)
    gamma, perturbation = (
        None if value is None else alignment_of(value, *LAYERS) for value in (alignment, rho)
    )
    report = replace(one.report, alignment_published=gamma, perturbation_published=perturbation)
    return replace(one, report=report)


def audited_study(*networks: NetworkReport, epochs: int) -> StudyResult:
    """Return a study on CIFAR-10 with the published network, an audit and no runs."""
    config = SharedConfig(
        task=TaskConfig(name="cifar10", checksum="0" * 64),
        net=NetConfig(width=256, blocks=4),
        recipe=Recipe(epochs=epochs),
    )
    return StudyResult("made", Path("made"), config, 0.1, (), audit_of(*networks, config=config))
