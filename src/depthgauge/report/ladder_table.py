"""The ladder as a table: one row for each rule, one column for each k."""

from __future__ import annotations

from collections.abc import Sequence

from depthgauge.number_format import counted, percent, percent_spread
from depthgauge.report.audit_table import Table, depth_cell
from depthgauge.report.sparkline import Signs, sparklines
from depthgauge.results.floors import LINEAR
from depthgauge.results.ladder import Ladder, Rung

TWINS = ", added on noise"


def ladder_rows(ladder: Ladder) -> Table:
    """Header and rows: accuracy in per cent, mean ± sample standard deviation; used depth.

    Below a rule stand its swap twins: the block that a rung adds is trained on noise.
    """
    rows = []
    for label, rungs in ladder.rules.items():
        depth = depth_cell(ladder.used_depth.get(label))
        rows.append([label, *_cells(rungs, ladder.ks), depth])
        if label in ladder.twins:
            rows.append([f"{label}{TWINS}", *_cells(ladder.twins[label], ladder.ks), ""])
    linear = ladder.floors.linear if ladder.floors else None
    if linear is not None and linear.accuracy is not None and ladder.ks:
        rows.append([LINEAR, percent(linear.accuracy), *["–"] * (len(ladder.ks) - 1), ""])
    return ["rule", *(f"k = {k}" for k in ladder.ks), "used depth"], rows


def _cells(rungs: Sequence[Rung], ks: Sequence[int]) -> list[str]:
    by_k = {rung.k: rung for rung in rungs}
    return [_cell(by_k.get(k)) for k in ks]


def rows_with_curves(ladder: Ladder, signs: Signs) -> Table:
    """The same with each rule's means as a curve of signs beside its name, all on one scale.

    One rung alone has no curve.
    """
    (first, *rest), rows = ladder_rows(ladder)
    if len(ladder.ks) < 2:  # noqa: PLR2004
        return [first, *rest], rows
    means = []
    for rungs in ladder.rules.values():
        by_k = {rung.k: rung.mean for rung in rungs}
        means.append([by_k.get(k) for k in ladder.ks])
    curves = dict(zip(ladder.rules, sparklines(means, signs), strict=True))
    drawn = [[rule, curves.get(rule, ""), *cells] for rule, *cells in rows]
    return [first, "ladder", *rest], drawn


def _cell(rung: Rung | None) -> str:
    if rung is None:
        return "–"
    if rung.mean is None:
        return "diverged"
    note = f" ({len(rung.diverged)} diverged)" if rung.diverged else ""
    return percent_spread(rung.spread) + note


def caption(ladder: Ladder) -> str:
    """What the table shows, in one line."""
    task, net, recipe = ladder.config.task, ladder.config.net, ladder.config.recipe
    seeds = ", ".join(map(str, ladder.seeds)) or "none"
    parts = [f"{task.name}, {task.evaluated_on} accuracy in %"]
    if net is not None and recipe is not None:
        parts[0] += f", last k of {net.blocks} blocks trained"
        parts.append(f"width {net.width}, {counted(recipe.epochs, 'epoch')}, seeds {seeds}")
    if ladder.chance is not None:
        parts.append(f"chance {percent(ladder.chance)}")
    return "; ".join(parts)
