"""Audit documents made by hand."""

from __future__ import annotations

from typing import Any

Document = dict[str, Any]


def make_row(method: str = "dfa", seed: int = 42, **more: Any) -> Document:
    row = {
        "method": method,
        "seed": seed,
        "acc": 0.3049,
        "h_L": 4.12e8,
        "g_L": 5.12e-7,
        "g_L_n128": 4.0e-9,
        "stability": 0.4567,
        "frozen_acc": 0.349,
        "verdict": "walk back",
        "fired": ["D1", "D2"],
        "single_seed": True,
        "first_fired": {"D1": 0, "D2": 12},
        "source": {},
        "growth": 700.0,
        "gamma": [0.1634, -0.02, None],
        "null": "specific",
    }
    return row | more


def make_diverged(method: str = "dfa", seed: int = 7) -> Document:
    readings = dict.fromkeys(("acc", "h_L", "g_L", "g_L_n128", "stability", "first_fired"))
    row = make_row(method, seed, verdict="diverged", fired=[], **readings)
    return {name: value for name, value in row.items() if name not in ("growth", "gamma", "null")}


def make_entry(**more: Any) -> Document:
    entry = {
        "seeds": [42, 123, 456],
        "diverged_seeds": [],
        "acc": {"mean": 0.305, "std": 0.0123, "n": 3},
        "frozen_acc": {"mean": 0.349, "std": None, "n": 1},
        "verdict": "walk back",
        "verdict_in_words": "walk back (D1, D2)",
        "fired": ["D1", "D2"],
        "single_seed": False,
        "diagnostics": [],
        "sensitivity": [],
    }
    return entry | more


def make_diverged_entry() -> Document:
    nothing = {"mean": None, "std": None, "n": 0}
    return make_entry(
        seeds=[7, 8],
        diverged_seeds=[7, 8],
        acc=nothing,
        verdict="diverged",
        verdict_in_words="diverged",
        fired=[],
    )


def make_audit(
    rows: list[Document] | None = None,
    *,
    verdicts: Document | None = None,
    utility: Document | None = None,
    controls: Document | None = None,
    bp_gain: float | None = 0.1,
    frozen: dict[str, float] | None = None,
) -> Document:
    return {
        "config": {"bp_depth_gain": bp_gain, "frozen_acc": frozen or {}},
        "summary": [make_row()] if rows is None else rows,
        "verdicts": {"dfa": make_entry()} if verdicts is None else verdicts,
        "decision_utility": utility or {},
        "controls": controls or {},
    }
