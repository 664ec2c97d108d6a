"""The table of runs: one row for each run, whatever its state."""

from __future__ import annotations

import math
from collections.abc import Sequence

from depthgauge.diagnostics.contract import Quantity
from depthgauge.number_format import MISSING, duration, percent
from depthgauge.report.tables.diagnostic_columns import columns, epoch_words, watched
from depthgauge.report.tables.table import Cell, Table, make_table, numbers, words
from depthgauge.report.texts.captions import task_words
from depthgauge.results.run import RunResult
from depthgauge.results.study import StudyResult
from depthgauge.verdict.first_fired import readings_from_metrics
from depthgauge.verdict.thresholds import Thresholds

PAPER = ("rule", "k", "seed", "state", "accuracy", "run")
SHORT_COMMIT = 7


def run_table(study: StudyResult) -> Table:
    """Return every run with its state, its last readings, and the epoch of each first alarm."""
    quantities = _recorded_quantities()
    titles = [
        *words("run", "rule"),
        *numbers("k", "seed"),
        *words("state"),
        *numbers("epochs", "accuracy", *(quantity.label for quantity in quantities)),
        *numbers(*(f"{diagnostic.id} fired" for diagnostic in watched()), "cohort time"),
        *words("commit"),
    ]
    caption = f"All runs: {task_words(study)} after the last epoch, with the last k blocks trained."
    rows = [_row(run, study.thresholds, quantities) for run in study.runs]
    return make_table("runs", caption, titles, rows)


def _recorded_quantities() -> list[Quantity]:
    """Return the quantities of diagnostics that training records after every epoch."""
    return [column.quantity for column in columns() if column.quantity.from_epoch is not None]


def _row(
    run: RunResult, thresholds: Thresholds, quantities: Sequence[Quantity]
) -> list[Cell | str]:
    readings = readings_from_metrics(run.epochs)
    last = readings[-1].values if readings else {}
    fired = run.first_fired(thresholds)
    seconds, commit = run.provenance.get("wall_seconds"), run.provenance.get("commit") or ""
    epoch = run.epochs[-1]["epoch"] if run.epochs else 0
    return [
        Cell(run.identity, run.identity),
        run.label,
        Cell(run.config.rung, order=run.config.k),
        Cell(str(run.config.seed), order=run.config.seed),
        run.state,
        Cell(f"{epoch} of {run.config.recipe.epochs}", order=epoch),
        _accuracy(run),
        *(Cell(q.show(last.get(q.name)), order=_order(last.get(q.name))) for q in quantities),
        *(Cell(epoch_words(fired, one), order=_order(fired.get(one.id))) for one in watched()),
        Cell(MISSING if seconds is None else duration(seconds), order=_order(seconds)),
        commit[:SHORT_COMMIT] or MISSING,
    ]


def _accuracy(run: RunResult) -> Cell:
    """Return the accuracy of a finished run, or the accuracy so far of an unfinished run.

    A diverged run has no accuracy.
    """
    accuracy, so_far = run.accuracy, ""
    if accuracy is None and run.state != "diverged" and run.epochs:
        accuracy, so_far = run.epochs[-1]["accuracy"], " so far"
    return Cell(percent(accuracy) + so_far, run.identity, order=_order(accuracy))


def _order(value: float | None) -> float | str | None:
    """Return the key by which the page sorts a value; infinity becomes a text for JavaScript."""
    return "Infinity" if value == math.inf else None if value is None else float(value)
