"""The networks with all blocks trained: one row for each, with its readings."""

from __future__ import annotations

from depthgauge.diagnostics.registry import diagnostics
from depthgauge.number_format import percent, significant
from depthgauge.report.tables.diagnostic_columns import (
    columns,
    epoch_words,
    shown_readings,
    watched,
)
from depthgauge.report.tables.table import Cell, Table, make_table, numbers, words
from depthgauge.results.network import NetworkResult
from depthgauge.results.rule import judge_by_training
from depthgauge.results.study import StudyResult


def network_table(study: StudyResult) -> Table:
    """Return each network's accuracies, readings and alarms, and the epoch of each first alarm."""
    norms = _last_norms(study)
    read = [column.header for column in columns()]
    first_fired = [f"{diagnostic.id} first fired" for diagnostic in watched()]
    titles = [
        *words("rule"),
        *numbers("seed", "accuracy", "frozen", "‖h_L‖", *read),
        *words("fires"),
        *numbers(*first_fired),
    ]
    rows = [
        _row(network, study, norms) for rule in study.rules.values() for network in rule.networks
    ]
    return make_table("networks", _caption(), titles, rows)


def _row(
    network: NetworkResult, study: StudyResult, norms: dict[str, float | None]
) -> list[Cell | str]:
    run, accuracy = network.run, percent(network.accuracy)
    return [
        network.label,
        str(network.seed),
        Cell("diverged" if network.diverged else accuracy, run),
        Cell(percent(network.frozen), network.frozen_run),
        Cell(significant(_last_norm(network, norms)), run),
        *(Cell(text, run) for text in shown_readings(network)),
        Cell(_fired(network, study), run),
        *(Cell(epoch_words(network.first_fired, diagnostic), run) for diagnostic in watched()),
    ]


def _caption() -> str:
    charts = [(one, one.chart) for one in diagnostics() if one.chart is not None]
    meanings = ", ".join(
        f"{chart.quantity.label}: {chart.axis} ({one.id})" for one, chart in charts
    )
    return (
        "Readings of each network with all its blocks trained: accuracy in %, median norm of the "
        f"last state; {meanings}; the diagnostics that fire by these values alone, and the epoch "
        "at which each first fired in training."
    )


def _last_norms(study: StudyResult) -> dict[str, float | None]:
    """Return the norm of the stream after the last block, ‖h_L‖, for each finished run.

    The norm is of the last epoch.
    """
    return {
        run.identity: norms[-1]
        for run in study.runs
        if run.state == "finished" and run.epochs and (norms := run.epochs[-1].get("h_norm"))
    }


def _last_norm(network: NetworkResult, norms: dict[str, float | None]) -> float | None:
    if network.report is not None:
        return network.report.residual_norms[-1]
    return norms.get(network.run or "")


def _fired(network: NetworkResult, study: StudyResult) -> str:
    """Return the diagnostics that fire by the values of this network alone."""
    if network.diverged:
        return "diverged"
    if network.report is not None:
        verdict = network.report.judgement
    else:
        verdict = judge_by_training([network], study.thresholds, study.bp_gain)
    return ", ".join(verdict.fired) or "none"
