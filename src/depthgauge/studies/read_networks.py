"""Networks with all their blocks trained, and what was read off each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from depthgauge.diagnostics.readings import diverged_readings
from depthgauge.studies.gathered import Gathered, GatheredRun
from depthgauge.verdict.over_training import from_metrics
from depthgauge.verdict.thresholds import Thresholds


@dataclass(frozen=True)
class ReadNetwork:
    """A network with all its blocks trained, and what was read off it.

    Attributes:
        method, seed: which it is.
        run, frozen_run: identities of the runs that it and its baseline came from; None for a
            network from elsewhere, or without a baseline.
        accuracy, frozen: on the whole evaluation split.
        growth, gradient, error_share, stability: D1, D2 and D2s; None where not read.
        first_fired: the epoch at which D1 and D2 first fired in training.
        report: the audit's report of it, None where the training record is all there is.
        diverged: whether its training did.
    """

    method: str
    seed: int
    run: str | None
    frozen_run: str | None
    accuracy: float | None
    frozen: float | None
    growth: float | None
    gradient: float | None
    error_share: float | None
    stability: float | None
    first_fired: dict[str, int | None]
    report: dict[str, Any] | None
    diverged: bool

    @property
    def seed_readings(self) -> dict[str, float | None]:
        """What a verdict needs of it; one that diverged has grown without bound."""
        if self.growth is None or self.gradient is None:
            return diverged_readings()
        return {
            "growth": self.growth,
            "gradient": self.gradient,
            "error_share": self.error_share,
            "stability": self.stability,
            "depth_gain": self.gain,
        }

    @property
    def gain(self) -> float | None:
        """Accuracy less that of the frozen baseline of the same seed."""
        if self.accuracy is None or self.frozen is None:
            return None
        return self.accuracy - self.frozen


def audited_networks(study: Gathered, audit: dict[str, Any], label: str) -> tuple[ReadNetwork, ...]:
    """The networks that an audit calls by this label; runs that are not there lead nowhere."""
    rows = [row for row in audit["summary"] if row["method"] == label]
    known = {run.identity for run in study.runs}
    return tuple(_audited(row, audit["reports"], known) for row in rows)


def audited_as(study: Gathered, method: str) -> str | None:
    """What the audit calls a rule, None if it did not read it.

    It is found by its runs: since the audit, a newer version of a rule may have taken its label.
    """
    if study.audit is None:
        return None
    method_of = {run.identity: run.method for run in study.runs}
    for label in study.audit["verdicts"]:
        rows = [row for row in study.audit["summary"] if row["method"] == label]
        read = [_identity(row["source"].get("run")) for row in rows]
        owners = {method_of[run] for run in read if run in method_of} or {label}
        if method in owners:
            return str(label)
    return None


def audit_as_called(study: Gathered) -> dict[str, Any] | None:
    """The audit, its rules called as the study calls them now."""
    if study.audit is None:
        return None
    called = {label: name for name in study.methods if (label := audited_as(study, name))}
    counts = {
        way: {called.get(label, label): count for label, count in by_rule.items()}
        for way, by_rule in study.audit["decision_utility"].items()
    }
    verdicts = {called.get(label, label): e for label, e in study.audit["verdicts"].items()}
    return study.audit | {"verdicts": verdicts, "decision_utility": counts}


def _audited(row: dict[str, Any], reports: dict[str, Any], known: set[str]) -> ReadNetwork:
    report = reports.get(f"{row['method']}_s{row['seed']}")
    reference = report["readings"]["reference"] if report else {}
    run, frozen_run = (_identity(row["source"].get(name)) for name in ("run", "frozen_run"))
    return ReadNetwork(
        method=row["method"],
        seed=row["seed"],
        run=run if run in known else None,
        frozen_run=frozen_run if frozen_run in known else None,
        accuracy=row["acc"],
        frozen=row["frozen_acc"],
        growth=_growth(row, report) if report else None,
        gradient=(row["g_L"] or 0.0) if report else None,
        error_share=reference.get("over_error"),
        stability=row["stability"],
        first_fired=row["first_fired"] or {},
        report=report,
        diverged=report is None,
    )


def _growth(row: dict[str, Any], report: dict[str, Any]) -> float | None:
    """As verdicts take it, where it was written down: what is not finite is null in the file."""
    if "growth" not in row:
        return None
    if None in report["residual_norms"]:
        return math.inf
    return float(row["growth"] or 0.0)


def _identity(run: str | None) -> str | None:
    return None if run is None else run.removeprefix("runs/")


def recorded_networks(study: Gathered, method: str) -> tuple[ReadNetwork, ...]:
    """The finished networks of a rule by their last epoch's metrics."""
    runs = [run for run in study.runs if run.method == method]
    frozen = {run.config.seed: run for run in runs if run.config.k == 0}
    thresholds = study.thresholds
    return tuple(
        _recorded(run, frozen.get(run.config.seed), thresholds)
        for run in runs
        if run.is_full and run.done
    )


def _recorded(run: GatheredRun, frozen: GatheredRun | None, thresholds: Thresholds) -> ReadNetwork:
    readings, last = from_metrics(run.lines), None
    if run.state == "finished" and readings:
        last = readings[-1]
    learns = run.config.recipe.targets == "true"
    return ReadNetwork(
        method=run.method,
        seed=run.config.seed,
        run=run.identity,
        frozen_run=frozen.identity if frozen else None,
        accuracy=run.accuracy,
        frozen=frozen.accuracy if frozen and learns else None,
        growth=last.values["growth"] if last else None,
        gradient=last.values["gradient"] if last else None,
        error_share=last.values["error_share"] if last else None,
        stability=None,
        first_fired=run.first_fired(thresholds),
        report=None,
        diverged=run.state == "diverged",
    )
