"""The ladder as a table: one row for each rule, one column for each k."""

from __future__ import annotations

from typing import Any

from depthgauge.report.sparkline import Signs, sparklines


def ladder_rows(ladder: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Header and rows: accuracy in per cent, mean ± sample standard deviation."""
    summary, ks = ladder["summary"], _ks(ladder)
    header = ["rule", *(f"k = {k}" for k in ks)]
    rows = [
        [rule, *(_cell(rungs.get(str(k)), ladder["results"][rule].get(str(k), {})) for k in ks)]
        for rule, rungs in summary.items()
    ]
    return header, rows


def rows_with_curves(ladder: dict[str, Any], signs: Signs) -> tuple[list[str], list[list[str]]]:
    """The same with each rule's means as a curve of signs beside its name, all on one scale.

    One rung alone has no curve.
    """
    (first, *rest), rows = ladder_rows(ladder)
    if len(rest) < 2:  # noqa: PLR2004
        return [first, *rest], rows
    means = [
        [rungs[str(k)]["mean"] if str(k) in rungs else None for k in _ks(ladder)]
        for rungs in ladder["summary"].values()
    ]
    curves = sparklines(means, signs)
    drawn = [[rule, curve, *cells] for (rule, *cells), curve in zip(rows, curves, strict=True)]
    return [first, "ladder", *rest], drawn


def _ks(ladder: dict[str, Any]) -> list[int]:
    return sorted({int(k) for rungs in ladder["summary"].values() for k in rungs})


def _cell(rung: dict[str, Any] | None, runs: dict[str, dict[str, Any]]) -> str:
    if rung is None:
        return "–"
    diverged = sum(run["status"] == "diverged" for run in runs.values())
    note = f" ({diverged} diverged)" if diverged else ""
    if rung["mean"] is None:
        return "diverged"
    spread = "" if rung["std"] is None else f" ± {100 * rung['std']:.1f}"
    return f"{100 * rung['mean']:.1f}{spread}{note}"


def caption(ladder: dict[str, Any]) -> str:
    """What the table shows, in one line."""
    config = ladder["config"]
    task, net, recipe = config["task"], config["net"], config["recipe"]
    seeds = sorted({int(s) for r in ladder["results"].values() for k in r.values() for s in k})
    return (
        f"{task['name']}, {task['evaluated_on']} accuracy in %, last k of {net['blocks']} blocks "
        f"trained; width {net['width']}, {recipe['epochs']} epochs, "
        f"seeds {', '.join(map(str, seeds)) or 'none'}; chance {100 * config['chance']:.1f}"
    )
