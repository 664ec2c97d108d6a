"""The ladder as a table: one row for each rule, one column for each k."""

from __future__ import annotations

from typing import Any


def ladder_rows(ladder: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Header and rows: accuracy in per cent, mean ± sample standard deviation."""
    summary = ladder["summary"]
    ks = sorted({int(k) for rungs in summary.values() for k in rungs})
    header = ["rule", *(f"k = {k}" for k in ks)]
    rows = [
        [rule, *(_cell(rungs.get(str(k)), ladder["results"][rule].get(str(k), {})) for k in ks)]
        for rule, rungs in summary.items()
    ]
    return header, rows


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
