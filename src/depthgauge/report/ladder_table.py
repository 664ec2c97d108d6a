"""The ladder as a table: one row for each rule, one column for each k."""

from __future__ import annotations

from depthgauge.report.audit_table import Table, percent, with_spread
from depthgauge.report.sparkline import Signs, sparklines
from depthgauge.results.floors import LINEAR
from depthgauge.results.ladder import Ladder, Rung
from depthgauge.scheduling.execution import counted


def ladder_rows(ladder: Ladder) -> Table:
    """Header and rows: accuracy in per cent, mean ± sample standard deviation."""
    rows = []
    for label, rungs in ladder.rules.items():
        by_k = {rung.k: rung for rung in rungs}
        rows.append([label, *(_cell(by_k.get(k)) for k in ladder.ks)])
    linear = ladder.floors.linear if ladder.floors else None
    if linear is not None and linear.accuracy is not None and ladder.ks:
        rows.append([LINEAR, percent(linear.accuracy), *["–"] * (len(ladder.ks) - 1)])
    return ["rule", *(f"k = {k}" for k in ladder.ks)], rows


def rows_with_curves(ladder: Ladder, signs: Signs) -> Table:
    """The same with each rule's means as a curve of signs beside its name, all on one scale.

    One rung alone has no curve.
    """
    (first, *rest), rows = ladder_rows(ladder)
    if len(rest) < 2:  # noqa: PLR2004
        return [first, *rest], rows
    means = []
    for rungs in ladder.rules.values():
        by_k = {rung.k: rung.mean for rung in rungs}
        means.append([by_k.get(k) for k in ladder.ks])
    means += [[None] * len(ladder.ks)] * (len(rows) - len(means))  # a floor has no rungs
    curves = sparklines(means, signs)
    drawn = [[rule, curve, *cells] for (rule, *cells), curve in zip(rows, curves, strict=True)]
    return [first, "ladder", *rest], drawn


def _cell(rung: Rung | None) -> str:
    if rung is None:
        return "–"
    if rung.mean is None:
        return "diverged"
    note = f" ({len(rung.diverged)} diverged)" if rung.diverged else ""
    return with_spread(rung.spread) + note


def caption(ladder: Ladder) -> str:
    """What the table shows, in one line."""
    task, net, recipe = ladder.config.task, ladder.config.net, ladder.config.recipe
    seeds = ", ".join(map(str, ladder.seeds)) or "none"
    parts = [f"{task.name}, {task.evaluated_on} accuracy in %"]
    if net is not None and recipe is not None:
        parts[0] += f", last k of {net.blocks} blocks trained"
        parts.append(f"width {net.width}, {counted(recipe.epochs, 'epoch')}, seeds {seeds}")
    if ladder.chance is not None:
        parts.append(f"chance {100 * ladder.chance:.1f}")
    return "; ".join(parts)
