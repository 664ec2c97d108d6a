"""Audited networks made by hand: reports of a small network with other numbers put in."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from studies.small_trained import CLASSES, make_batch, make_trained

from depthgauge.diagnosis.diagnose import diagnose
from depthgauge.diagnosis.report import Report
from depthgauge.gauges.alignment import AlignmentReading
from depthgauge.gauges.depth import read_depth
from depthgauge.studies.audit import Audited
from depthgauge.studies.audit_subjects import Subject
from depthgauge.verdict.judge import judge

CHANCE = 1 / CLASSES


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
    """Healthy, unless it is told otherwise."""
    plain = some_report()
    report = replace(
        plain,
        scale=replace(plain.scale, value=growth),
        reference=replace(plain.reference, value=gradient, over_error=gradient),
        stability=replace(plain.stability, value=stability),
        depth=read_depth(accuracy, frozen),
        alignment=None if gamma is None else _alignment(gamma),
    )
    return replace(report, judgement=judge([report.seed_readings]))


def _alignment(gamma: float) -> AlignmentReading:
    return AlignmentReading(
        name="Γ alignment",
        value=gamma,
        per_layer=(None, gamma),
        unit="cosine",
        convention="depthgauge",
        measured_on="64 samples",
        over_all=gamma,
    )


def audited(
    method: str, seed: int, accuracy: float | None, frozen: float | None, **readings: float
) -> Audited:
    """One network; without an accuracy it diverged."""
    subject = Subject(method, seed, None, accuracy, frozen, {"run": f"runs/{method}{seed}"})
    report = None if accuracy is None else report_of(accuracy, frozen, **readings)
    return Audited(subject, report, {"D1": None, "D2": 3})
