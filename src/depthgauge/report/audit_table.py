"""The audit as tables: one row for each network, for each rule, for each way of reporting."""

from __future__ import annotations

from typing import Any

Table = tuple[list[str], list[list[str]]]


def run_table(document: dict[str, Any]) -> Table:
    """Rule, seed, accuracy, ‖h_L‖, ‖g_L‖ per sample, stability, frozen accuracy, verdict."""
    header = ["rule", "seed", "acc", "‖h_L‖", "‖g_L‖", "stability", "frozen", "verdict"]
    return header, [_run_row(row) for row in document["summary"]]


def _run_row(row: dict[str, Any]) -> list[str]:
    fired = f" ({', '.join(row['fired'])})" if row["fired"] else ""
    return [
        row["method"],
        str(row["seed"]),
        percent(row["acc"]),
        _short(row["h_L"]),
        _short(row["g_L"]),
        "–" if row["stability"] is None else f"{row['stability']:.3f}",
        percent(row["frozen_acc"]),
        row["verdict"] + fired,
    ]


def training_table(document: dict[str, Any]) -> Table:
    """The epoch at which D1 and D2 first fired, where the training was watched."""
    header = ["over training", "seed", "D1 first fires", "D2 first fires"]
    rows = [
        [row["method"], str(row["seed"]), *(_epoch(row["first_fired"], d) for d in ("D1", "D2"))]
        for row in document["summary"]
        if row["first_fired"]
    ]
    return header, rows


def rule_table(document: dict[str, Any]) -> Table:
    """Rule, mean ± std, verdict over seeds."""
    header = ["rule", "acc", "frozen", "verdict over seeds"]
    rows = [
        [
            method,
            _with_spread(entry["acc"]),
            _with_spread(entry["frozen_acc"]),
            entry["verdict_in_words"] + _diverged(entry),
        ]
        for method, entry in document["verdicts"].items()
    ]
    rows += [
        [method, _with_spread(entry["acc"]), "–", "no blocks: nothing to judge"]
        for method, entry in document.get("shallow", {}).items()
    ]
    return header, rows


def selection_table(document: dict[str, Any]) -> Table:
    """Every setting that was tried, with its accuracy on held-out samples; the best is marked."""
    header = ["setting", "held-out acc", "chosen"]
    rows = [
        [label, _with_spread(found), "yes" if label == entry["chosen"] else ""]
        for entry in document.get("selection", {}).values()
        for label, found in entry["candidates"].items()
    ]
    return header, rows


def utility_table(document: dict[str, Any]) -> Table:
    """For each way of reporting, how many of each rule's runs it walks back."""
    methods = list(document["verdicts"])
    header = ["what is reported", *(f"{method} walked back" for method in methods)]
    rows = [
        [strategy, *(_count(counts.get(method)) for method in methods)]
        for strategy, counts in document["decision_utility"].items()
    ]
    return header, rows


def layer_table(document: dict[str, Any]) -> Table:
    """Γ of each network layer by layer: one mean would hide where it is."""
    depth = max((len(row.get("gamma") or ()) for row in document["summary"]), default=0)
    header = ["Γ", "seed", "embed", *(f"block {index}" for index in range(depth - 1)), "null, deep"]
    rows = [
        [
            row["method"],
            str(row["seed"]),
            *("–" if value is None else f"{value:+.3f}" for value in row["gamma"]),
            *["–"] * (depth - len(row["gamma"])),
            row["null"] or "n/a",
        ]
        for row in document["summary"]
        if row.get("gamma")
    ]
    return header, rows


def percent(share: float | None) -> str:
    """A share in per cent."""
    return "–" if share is None else f"{100 * share:.1f}"


def _with_spread(entry: dict[str, Any]) -> str:
    if entry["mean"] is None:
        return "–"
    spread = "" if entry["std"] is None else f" ± {100 * entry['std']:.1f}"
    return f"{100 * entry['mean']:.1f}{spread}"


def _diverged(entry: dict[str, Any]) -> str:
    lost = entry["diverged_seeds"]
    return f"; diverged: seed {', '.join(map(str, lost))}" if lost else ""


def _short(value: float | None) -> str:
    return "–" if value is None else f"{value:.2g}"


def _epoch(first: dict[str, int | None], name: str) -> str:
    if name not in first:
        return "n/a"
    return "–" if first[name] is None else f"epoch {first[name]}"


def _count(counts: list[int] | None) -> str:
    return "–" if not counts or not counts[1] else f"{counts[0]} of {counts[1]}"


TABLES = (rule_table, run_table, training_table, layer_table, utility_table, selection_table)
"""The verdicts first."""
