"""The ladder: accuracy by rule and number of trained blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from depthgauge.number_format import MISSING, counted, percent, percent_spread
from depthgauge.report.sparkline import Signs, sparklines
from depthgauge.report.tables.table import Cell, Column, Table, make_table, numbers, words
from depthgauge.report.tables.verdicts import depth_text
from depthgauge.report.texts.captions import LOST, task_words
from depthgauge.results.floors import LINEAR
from depthgauge.results.ladder import Rung
from depthgauge.results.rule import RuleResult
from depthgauge.results.study import StudyResult

TWINS = ", added on noise"
"""What follows a rule's label in the row of its swap twins."""


def ladder_table(study: StudyResult) -> Table:
    """Return one row for each rule; each mean links to its runs.

    The row below a rule has the rule's swap twins. A swap twin repeats a rung, but trains the
    blocks that the rung adds on noise. The last row is the linear floor.
    """
    rules = _with_rungs(study)
    ks = sorted({rung.k for rule in rules for rung in _ended(rule.ladder)})
    seeds = len(study.seeds)
    rows: list[list[Cell | str]] = []
    for rule in rules:
        rows.append(_row(rule, ks, seeds))
        twins = {rung.k: _twin_cell(rung, seeds) for rung in _ended(rule.twins)}
        if twins:
            rows.append([f"{rule.label}{TWINS}", *(twins.get(k, MISSING) for k in ks), ""])
    linear = study.floors.linear if study.floors else None
    if linear is not None and linear.accuracy is not None and ks:
        rows.append([LINEAR, percent(linear.accuracy), *[MISSING] * (len(ks) - 1), ""])
    columns = [*words("rule"), *numbers(*(f"k = {k}" for k in ks), "used depth")]
    return make_table("ladder", ladder_caption(study), columns, rows)


def with_curves(table: Table, study: StudyResult, signs: Signs) -> Table:
    """Return the table with a curve of characters for the means of each rule.

    All curves have the same scale. A ladder of one rung has no curve.
    """
    rules = _with_rungs(study)
    ks = sorted({rung.k for rule in rules for rung in _ended(rule.ladder)})
    if len(ks) < 2:  # noqa: PLR2004
        return table
    means = [{rung.k: rung.mean for rung in rule.ladder} for rule in rules]
    drawn = sparklines([[by_k.get(k) for k in ks] for by_k in means], signs)
    curves = dict(zip((rule.label for rule in rules), drawn, strict=True))
    rows = tuple((first, Cell(curves.get(first.text, "")), *rest) for first, *rest in table.rows)
    first_column, *others = table.columns
    return replace(table, columns=(first_column, Column("ladder", "number"), *others), rows=rows)


def ladder_caption(study: StudyResult) -> str:
    """Return the task, the network, the recipe and the seeds of a ladder."""
    net, recipe, seeds = study.config.net, study.config.recipe, study.seeds
    caption = f"Ladder: {task_words(study)}"
    if net is not None and recipe is not None:
        caption += (
            f" with the last k of {net.blocks} blocks trained; width {net.width}, "
            f"{counted(recipe.epochs, 'epoch')}"
        )
    caption += f"; seeds {', '.join(map(str, seeds)) or 'none'}; mean ± sample standard deviation"
    caption += f" over {counted(len(seeds), 'seed')} unless n is given; {LOST}"
    return caption + (f"; chance {percent(study.chance)}." if study.chance is not None else ".")


def _with_rungs(study: StudyResult) -> list[RuleResult]:
    return [rule for rule in study.rules.values() if _ended(rule.ladder)]


def _ended(rungs: Sequence[Rung]) -> list[Rung]:
    """Return the rungs of which at least one run has ended."""
    return [rung for rung in rungs if rung.accuracies or rung.lost]


def _row(rule: RuleResult, ks: Sequence[int], seeds: int) -> list[Cell | str]:
    leads = {"rule": rule.label}
    cells = {
        rung.k: Cell(_rung_text(rung, seeds), runs=leads | {"k": str(rung.k)})
        for rung in _ended(rule.ladder)
    }
    depth = depth_text(rule.used_depth)
    return [Cell(rule.label, runs=leads), *(cells.get(k, MISSING) for k in ks), depth]


def _twin_cell(rung: Rung, seeds: int) -> Cell:
    """Return the cell of a rung's swap twins: their mean, with a link to the first twin's run."""
    return Cell(_rung_text(rung, seeds), run=next(iter(rung.runs.values()), None))


def _rung_text(rung: Rung, seeds: int) -> str:
    n = len(rung.accuracies)
    notes = [f"n = {n}"] if 0 < n < seeds else []
    notes += [f"{rung.lost} lost"] if rung.lost else []
    return percent_spread(rung.spread) + (f" ({', '.join(notes)})" if notes else "")
