"""Handmade reports on networks: the report on a small network with other numbers put in."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from auditing.small_trained import CLASSES, make_batch, make_trained

from depthgauge.auditing.conclusion import conclude, depth_gain_of_bp
from depthgauge.auditing.gauge_readings import NetworkReport
from depthgauge.auditing.networks import NetworkUnderAudit
from depthgauge.config import SharedConfig, TaskConfig
from depthgauge.diagnosis.diagnose import diagnose
from depthgauge.diagnosis.report import Report
from depthgauge.gauges.alignment import AlignmentReading
from depthgauge.gauges.depth import read_depth
from depthgauge.results.audit import Audit
from depthgauge.results.audit_parts import Source
from depthgauge.verdict.judge import judge
from depthgauge.verdict.thresholds import Thresholds

CHANCE = 1 / CLASSES
CONFIG = SharedConfig(task=TaskConfig(name="made", checksum="0" * 64))


@cache
def some_report() -> Report:
    return diagnose(make_trained(None).net, [make_batch(8, seed) for seed in range(8)])


def report_of(
    accuracy: float | None,
    frozen: float | None,
    *,
    growth: float = 1.5,
    gradient: float = 0.1,
    gamma: float | None = None,
    stability: float | None = 0.1,
) -> Report:
    """Return the report on a network that is healthy unless the arguments say otherwise."""
    plain = some_report()
    report = replace(
        plain,
        scale=replace(plain.scale, value=growth),
        reference=replace(plain.reference, value=gradient, over_error=gradient),
        stability=replace(plain.stability, value=stability),
        depth=read_depth(accuracy, frozen),
        alignment=None if gamma is None else alignment_of(gamma),
    )
    return replace(report, judgement=judge([report.seed_readings]))


def alignment_of(gamma: float, *per_layer: float) -> AlignmentReading:
    """Return a reading of Γ with this value; `per_layer` has the embedding first."""
    return AlignmentReading(
        name="Γ alignment",
        value=gamma,
        per_layer=per_layer or (None, gamma),
        unit="cosine",
        convention="depthgauge",
        measured_on="64 samples",
        over_all=gamma,
    )


def under_audit(
    label: str,
    seed: int = 1,
    accuracy: float | None = None,
    frozen: float | None = None,
    **more: Any,
) -> NetworkUnderAudit:
    """Return a network under audit without weights, with the facts of its training."""
    known = {"trained": None, "source": Source(run=f"{label}{seed}")} | more
    return NetworkUnderAudit(label, seed, accuracy=accuracy, frozen=frozen, **known)


def audited(
    label: str, seed: int, accuracy: float | None, frozen: float | None, **readings: float | None
) -> NetworkReport:
    """Return the report on one network; without an accuracy it diverged."""
    report = None if accuracy is None else report_of(accuracy, frozen, **readings)
    fired = {"D1": None, "D2": 3}
    return NetworkReport(under_audit(label, seed, accuracy, frozen), report, fired)


def from_runs(networks: list[NetworkReport], runs: dict[int, str]) -> list[NetworkReport]:
    """Return the networks with the ids of these runs, by seed."""
    return [
        replace(one, network=replace(one.network, source=Source(run=runs[one.network.seed])))
        for one in networks
    ]


def audit_of(
    *networks: NetworkReport,
    thresholds: Thresholds | None = None,
    config: SharedConfig = CONFIG,
    **more: Any,
) -> Audit:
    """Return the audit of these networks."""
    known = {"chance": CHANCE, "untrained": {}, "provenance": {"version": "1.0"}} | more
    bp_gain = depth_gain_of_bp([one.network for one in networks])
    return conclude(networks, config, thresholds or Thresholds(), bp_gain=bp_gain, **known)
