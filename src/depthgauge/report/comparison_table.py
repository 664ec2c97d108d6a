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
    if document["unlike"]:
        return [
            f"Measured otherwise than published ({', '.join(document['unlike'])}): the differences "
            "include that, so no interval is given."
        ]
    rungs = document["rungs"]
    outside = [entry["what"] for entry in rungs if not entry["inside"]]
    words = [f"{len(rungs) - len(outside)} of {len(rungs)} rungs lie inside their interval."]
    if outside:
        words.append(f"Outside: {', '.join(outside)}.")
    return words


def _with_spread(mean: float, spread: float | None) -> str:
    return f"{100 * mean:.1f}" + ("" if spread is None else f" ± {100 * spread:.1f}")
