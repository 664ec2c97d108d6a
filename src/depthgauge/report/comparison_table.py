"""Measured beside published."""

from __future__ import annotations

from typing import Any

HEADER = ["", "measured", "n", "published", "difference", "95 % interval", ""]


def comparison_rows(comparisons: list[dict[str, Any]]) -> list[list[str]]:
    """One row for each figure: accuracies in per cent, differences in points."""
    return [
        [
            entry["what"],
            _with_spread(entry["measured"], entry["measured_std"]),
            str(entry["n"]),
            _with_spread(entry["published"], entry["published_std"]),
            f"{100 * entry['difference']:+.1f}",
            "–" if entry["half_width"] is None else f"± {100 * entry['half_width']:.1f}",
            {True: "inside", False: "OUTSIDE", None: "not alike"}[entry["inside"]],
        ]
        for entry in comparisons
    ]


def comparison_words(document: dict[str, Any]) -> list[str]:
    """What the rows come to."""
    return inside_words(document["unlike"], document["rungs"], "rungs")


def inside_words(unlike: list[str], compared: list[dict[str, Any]], name: str) -> list[str]:
    """How many figures lie inside their interval, and which do not."""
    if unlike:
        return [
            f"Measured otherwise than published ({', '.join(unlike)}): the differences include "
            "that, so no interval is given."
        ]
    outside = [entry["what"] for entry in compared if not entry["inside"]]
    inside = len(compared) - len(outside)
    words = [f"{inside} of {len(compared)} {name} lie inside their interval."]
    return [*words, f"Outside: {', '.join(outside)}."] if outside else words


def _with_spread(mean: float, spread: float | None) -> str:
    return f"{100 * mean:.1f}" + ("" if spread is None else f" ± {100 * spread:.1f}")
