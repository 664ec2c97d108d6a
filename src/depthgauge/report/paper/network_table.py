"""One row for each network with all its blocks trained, and what was read off it."""

from __future__ import annotations

from depthgauge.diagnostics.registry import diagnostics
from depthgauge.number_format import percent, significant, with_powers
from depthgauge.report.diagnostic_columns import columns, shown_readings
from depthgauge.report.paper.paper_table import PaperTable
from depthgauge.results.network import NetworkResult
from depthgauge.results.rule import judge_by_training
from depthgauge.results.study import StudyResult


def network_table(study: StudyResult) -> PaperTable:
    """Rule, seed, accuracy, ‖h_L‖, what each diagnostic read, what fires by point values."""
    streams = _last_norms(study)
    rows = [
        [
            network.label,
            str(network.seed),
            percent(network.accuracy),
            significant(_stream(network, streams)),
            *map(with_powers, shown_readings(network)),
            _fired(network, study),
        ]
        for view in study.rules.values()
        for network in view.networks
    ]
    caption = (
        "Readings of each network with all its blocks trained: accuracy in %, median norm of the "
        f"last state; {_meanings()}; what fires by these values alone."
    )
    read = [column.quantity.label for column in columns()]
    header = ["rule", "seed", "acc", "‖h_L‖", *read, "fires"]
    return PaperTable("diagnostics", study.name, caption, header, rows)


def _meanings() -> str:
    """What the columns of the diagnostics are, as their charts' axes say it."""
    charts = [(one, one.chart) for one in diagnostics() if one.chart is not None]
    return ", ".join(f"{chart.quantity.label}: {chart.axis} ({one.id})" for one, chart in charts)


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


def _fired(network: NetworkResult, study: StudyResult) -> str:
    """By the point values of this network alone."""
    if network.diverged:
        return "diverged"
    if network.report is not None:
        found = network.report.judgement
    else:
        found = judge_by_training([network], study.thresholds, study.bp_gain)
    return ", ".join(found.fired) or "none"
