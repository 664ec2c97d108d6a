"""One row for each network with all its blocks trained, and what was read off it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from depthgauge.report.audit_table import percent
from depthgauge.report.paper.numbers import UNKNOWN, significant
from depthgauge.report.paper.paper_table import PaperTable
from depthgauge.studies.gathered import Gathered
from depthgauge.studies.read_networks import ReadNetwork
from depthgauge.studies.rule_views import NOT_JUDGED, RuleView
from depthgauge.verdict.judge import judge
from depthgauge.verdict.thresholds import Thresholds


def network_table(study: Gathered, views: Sequence[RuleView]) -> PaperTable:
    """Rule, seed, accuracy, ‖h_L‖, growth, ‖g_L‖, stability, verdict by point values."""
    streams = _last_norms(study)
    rows = [
        [
            network.method,
            str(network.seed),
            percent(network.accuracy),
            significant(_stream(network, streams)),
            significant(network.growth),
            significant(network.gradient),
            UNKNOWN if network.stability is None else f"{network.stability:.3f}",
            _verdict(network, view, study.thresholds),
        ]
        for view in views
        for network in view.networks
    ]
    caption = (
        "Readings of each network with all its blocks trained: accuracy in %, median norm of the "
        "last state, largest growth of the stream between neighbouring blocks (D1), median norm "
        "of each sample's own gradient at the last state (D2), stability of the gradient between "
        "batches (D2s). Verdicts by point values."
    )
    header = ["rule", "seed", "acc", "‖h_L‖", "growth", "‖g_L‖", "stability", "verdict"]
    return PaperTable("diagnostics", study.name, caption, header, rows)


def _last_norms(study: Gathered) -> dict[str, float | None]:
    """‖h_L‖ after each finished run's last epoch."""
    return {
        run.identity: norms[-1]
        for run in study.runs
        if run.state == "finished" and run.lines and (norms := run.lines[-1].get("h_norm"))
    }


def _stream(network: ReadNetwork, by_run: dict[str, float | None]) -> float | None:
    if network.report is not None:
        norm: float | None = network.report["residual_norms"][-1]
        return math.inf if norm is None else norm
    return by_run.get(network.run or "")


def _verdict(network: ReadNetwork, view: RuleView, thresholds: Thresholds) -> str:
    """By the point values of this network alone."""
    if network.diverged:
        return "diverged"
    if network.report is not None:
        word, fired = str(network.report["verdict"]), network.report["fired"]
    else:
        depth = view.diagnostics[2]
        applies = depth["finding"] != "untested" or not depth["intervals"]
        found = judge([network.seed_readings], thresholds, None if applies else 0.0)
        word, fired = found.word, found.fired
        if found.findings[1].untested and not fired:
            return NOT_JUDGED
    return word + (f" ({', '.join(fired)})" if fired else "")
