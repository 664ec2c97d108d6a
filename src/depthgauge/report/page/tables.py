"""The page's tables, every number with the run that it came from."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from depthgauge.diagnostics.contract import Quantity
from depthgauge.number_format import MISSING, duration, percent, percent_spread
from depthgauge.report.audit_table import utility_table
from depthgauge.report.diagnostic_columns import columns, epoch_words, shown_readings, watched
from depthgauge.report.ladder_table import TWINS
from depthgauge.results.floors import LINEAR, Floors
from depthgauge.results.ladder import Rung
from depthgauge.results.rule import RuleResult
from depthgauge.results.run import RunResult
from depthgauge.results.study import StudyResult
from depthgauge.verdict.first_fired import readings_from_metrics
from depthgauge.verdict.thresholds import Thresholds

NUMBER = re.compile(r"[-+−±\[ ]*[\d∞]|–|\[too few|n/a$|never$|epoch \d|diverged$|$")
"""What a number, an interval, or what stands in its place begins with."""


@dataclass(frozen=True)
class Cell:
    """Text, where it leads (a run's identity, or a filter of the runs), and what sorts it."""

    text: str
    run: str | None = None
    runs: dict[str, str] | None = None
    order: float | str | None = None


@dataclass(frozen=True)
class PageTable:
    """Header and rows of cells."""

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]

    @cached_property
    def numeric(self) -> list[bool]:
        """Of each column whether it holds numbers, which are set to the right."""
        columns = zip(*self.rows, strict=True) if self.rows else [()] * len(self.header)
        return [all(NUMBER.match(cell.text) for cell in column) for column in columns]


def ladder_table(views: Collection[RuleResult], floors: Floors | None = None) -> PageTable:
    """Accuracy in per cent by rule and k; each mean leads to its runs.

    Below a rule stand its swap twins; each mean leads to its first run. The linear floor is last.
    """
    ks = sorted({rung.k for view in views for rung in view.ladder})
    rows = []
    for view in views:
        leads = {"rule": view.label}
        rungs = {r.k: Cell(_mean(r), runs=leads | {"k": str(r.k)}) for r in _done(view.ladder)}
        rows.append([Cell(view.label, runs=leads), *(rungs.get(k, Cell("–")) for k in ks)])
        twins = {t.k: Cell(_mean(t), next(iter(t.runs.values()), None)) for t in _done(view.twins)}
        if twins:
            rows.append([Cell(f"{view.label}{TWINS}"), *(twins.get(k, Cell("–")) for k in ks)])
    linear = floors.linear if floors else None
    if linear is not None and linear.accuracy is not None and ks:
        rows.append([Cell(LINEAR), Cell(percent(linear.accuracy)), *[Cell("–")] * (len(ks) - 1)])
    return PageTable(["rule", *(f"k = {k}" for k in ks)], rows)


def _done(rungs: Sequence[Rung]) -> list[Rung]:
    return [rung for rung in rungs if rung.accuracies or rung.lost]


def _mean(rung: Rung) -> str:
    return percent_spread(rung.spread) + (f" ({rung.lost} lost)" if rung.lost else "")


def network_table(views: Collection[RuleResult]) -> PageTable:
    """The networks with all blocks trained: what each diagnostic read, seed by seed."""
    looked_at = watched()
    header = ["rule", "seed", "accuracy, %", "frozen, %", *(one.header for one in columns())]
    header += [f"{one.id} first fired" for one in looked_at]
    rows = []
    for view in views:
        for network in view.networks:
            values = [
                Cell("diverged" if network.diverged else percent(network.accuracy), network.run),
                Cell(percent(network.frozen), network.frozen_run),
                *(Cell(text, network.run) for text in shown_readings(network)),
                *(Cell(epoch_words(network.first_fired, one), network.run) for one in looked_at),
            ]
            rows.append([Cell(view.label), Cell(str(network.seed)), *values])
    return PageTable(header, rows)


def runs_table(study: StudyResult) -> PageTable:
    """Every run, also those that failed, diverged, or were not begun."""
    header = ["run", "rule", "k", "seed", "state", "epochs", "accuracy, %"]
    header += [quantity.label for quantity in _recorded_columns()]
    header += [*(f"{one.id} fired" for one in watched()), "cohort time", "commit"]
    return PageTable(header, [_run_cells(run, study.thresholds) for run in study.runs])


def _recorded_columns() -> list[Quantity]:
    """What training records of that which tables of networks show."""
    return [column.quantity for column in columns() if column.quantity.from_epoch is not None]


def _run_cells(run: RunResult, thresholds: Thresholds) -> list[Cell]:
    readings, read = readings_from_metrics(run.epochs), _recorded_columns()
    last = readings[-1].values if readings else {}
    fired = run.first_fired(thresholds)
    seconds, commit = run.provenance.get("wall_seconds"), run.provenance.get("commit") or ""
    accuracy = run.epochs[-1]["accuracy"] if run.epochs else None
    epoch = run.epochs[-1]["epoch"] if run.epochs else 0
    shown = accuracy if run.accuracy is None and run.state != "diverged" else run.accuracy
    so_far = "" if run.accuracy is not None or shown is None else " so far"
    return [
        Cell(run.identity[:8], run.identity),
        Cell(run.label),
        Cell(run.config.rung, order=run.config.k),
        Cell(str(run.config.seed), order=run.config.seed),
        Cell(run.state),
        Cell(f"{epoch} of {run.config.recipe.epochs}", order=epoch),
        Cell(percent(shown) + so_far, run.identity, order=_order(shown)),
        *(Cell(q.show(last.get(q.name)), order=_order(last.get(q.name))) for q in read),
        *(Cell(epoch_words(fired, one), order=_order(fired.get(one.id))) for one in watched()),
        Cell(MISSING if seconds is None else duration(seconds), order=_order(seconds)),
        Cell(commit[:7] or "–"),
    ]


def utility_rows(study: StudyResult) -> PageTable | None:
    """How many of each rule's runs each way of reporting walks back; None without an audit."""
    if study.audit is None:
        return None
    header, rows = utility_table(study)
    return PageTable(header, [[Cell(text) for text in row] for row in rows])


def plain_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> PageTable:
    """A table of texts."""
    return PageTable(header, [[Cell(text) for text in row] for row in rows])


def _order(value: Any) -> float | str | None:
    """What has no bound is called as the page's script calls it."""
    return "Infinity" if value == math.inf else None if value is None else float(value)
