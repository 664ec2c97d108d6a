"""Lines of metrics made by hand, and a slow, obvious reading of them."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

Line = dict[str, Any]


def line(
    epoch: int,
    accuracy: float | None = 0.5,
    *,
    growth: float = 1.0,
    gradient: float = 1.0,
    diverged: bool = False,
) -> Line:
    """D1 fires where the growth is above 50, D2 where the gradient is below 1.28e-5."""
    return {
        "epoch": epoch,
        "train_loss": None,
        "accuracy": accuracy,
        "h_norm": [2.0, 2.0, 2.0 * growth],
        "g_norm": [1.0, 1.0, gradient],
        "g_over_e": gradient,
        "diverged": diverged,
    }


def lines_in(path: Path) -> list[Line]:
    """Every epoch as its last whole line has it, in order."""
    found: dict[int, Line] = {}
    text = path.read_text() if path.exists() else ""
    for part in text.split("\n")[:-1]:
        try:
            one = json.loads(part)
        except ValueError:
            continue
        found[one["epoch"]] = one
    return [found[epoch] for epoch in sorted(found)]


def fires(one: Line) -> set[str]:
    if one["diverged"]:
        return {"D1", "D2"}
    h, g = one["h_norm"], one["g_norm"]
    d1 = max(after / before for before, after in pairwise(h)) > 50
    d2 = g[-1] < 1.28e-5 and one["g_over_e"] < 1.4e-5
    return {name for name, fired in (("D1", d1), ("D2", d2)) if fired}


def first_epochs(lines: list[Line]) -> dict[str, int]:
    """By a diagnostic that fired, the first epoch at which it did."""
    found: dict[str, int] = {}
    for one in lines:
        for name in fires(one):
            found.setdefault(name, one["epoch"])
    return found
