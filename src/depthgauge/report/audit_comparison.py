"""The audit measured, beside the audit published."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from depthgauge.report.comparison_table import HEADER, comparison_rows

Table = tuple[list[str], list[list[str]]]


def audit_comparison_tables(comparison: dict[str, Any]) -> list[Table]:
    """Verdicts, accuracies, and the readings of one seed."""
    verdicts = [
        [row["what"], row["measured"], row["published"] or "not published"]
        for row in comparison["verdicts"]
    ]
    readings = [
        [row["what"], _numbers(row["measured"]), _numbers(row["published"])]
        for row in comparison["one_seed"]
    ]
    return [
        (["verdict", "measured", "published"], verdicts),
        (HEADER, comparison_rows(comparison["accuracies"])),
        (["seed 42", "measured", "published"], readings),
    ]


def audit_comparison_words(comparison: dict[str, Any]) -> list[str]:
    """What the accuracies come to."""
    if comparison["unlike"]:
        return [
            f"Measured otherwise than published ({', '.join(comparison['unlike'])}): the "
            "differences include that, so no interval is given."
        ]
    rows = comparison["accuracies"]
    outside = [row["what"] for row in rows if not row["inside"]]
    words = [f"{len(rows) - len(outside)} of {len(rows)} accuracies lie inside their interval."]
    return [*words, f"Outside: {', '.join(outside)}."] if outside else words


def _numbers(values: Sequence[float | None]) -> str:
    return "  ".join("–" if value is None else f"{value:.3g}" for value in values)
