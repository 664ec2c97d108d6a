"""One row for each network with all its blocks trained, and what was read off it."""

from __future__ import annotations

from depthgauge.report.audit_table import percent
from depthgauge.report.paper.numbers import UNKNOWN, significant
from depthgauge.report.paper.paper_table import PaperTable
from depthgauge.results.network import NetworkResult
from depthgauge.results.rule import RuleResult
from depthgauge.results.study import StudyResult
from depthgauge.verdict.judge import judge
from depthgauge.verdict.thresholds import Thresholds


def network_table(study: StudyResult) -> PaperTable:
    """Rule, seed, accuracy, ‖h_L‖, growth, ‖g_L‖, stability, verdict by point values."""
    streams = _last_norms(study)
    rows = [
        [
            network.label,
            str(network.seed),
            percent(network.accuracy),
            significant(_stream(network, streams)),
            significant(network.readings.get("growth")),
            significant(network.readings.get("gradient")),
            UNKNOWN
            if network.readings.get("stability") is None
            else f"{network.readings.get('stability'):.3f}",
            _verdict(network, view, study.thresholds),
        ]
        for view in study.rules.values()
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


def _last_norms(study: StudyResult) -> dict[str, float | None]:
    """‖h_L‖ after each finished run's last epoch."""
    return {
        run.identity: norms[-1]
        for run in study.runs
        if run.state == "finished" and run.epochs and (norms := run.epochs[-1].get("h_norm"))
    }


def _stream(network: NetworkResult, by_run: dict[str, float | None]) -> float | None:
    if network.report is not None:
        return network.report.residual_norms[-1]
    return by_run.get(network.run or "")


def _verdict(network: NetworkResult, view: RuleResult, thresholds: Thresholds) -> str:
    """By the point values of this network alone."""
    if network.diverged:
        return "diverged"
    if network.report is not None:
        word, fired = network.report.judgement.word, network.report.judgement.fired
    else:
        depth = view.findings[2]
        applies = depth.outcome != "untested" or not depth.intervals
        found = judge([network.readings], thresholds, None if applies else 0.0)
        word, fired = found.word, found.fired
        if found.findings[1].untested and not fired:
            return "not judged"
    return word + (f" ({', '.join(fired)})" if fired else "")
