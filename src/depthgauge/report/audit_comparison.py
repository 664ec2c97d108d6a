"""The audit measured, beside the audit published."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from depthgauge.report.comparison_table import HEADER, comparison_rows, inside_words

Table = tuple[list[str], list[list[str]]]


def audit_comparison_tables(comparison: dict[str, Any]) -> list[Table]:
    """Verdicts, accuracies, and the readings of one seed."""
    verdicts = [
        [row["what"], row["measured"], row["published"] or "not published"]
        for row in comparison["verdicts"]
    ]
    return [
        (["verdict", "measured", "published"], verdicts),
        (HEADER, comparison_rows(comparison["accuracies"])),
        (["seed 42", "measured", "published"], reading_rows(comparison["one_seed"])),
    ]


def reading_rows(readings: list[dict[str, Any]]) -> list[list[str]]:
    """One row for each list of numbers that was published."""
    return [
        [row["what"], _numbers(row["measured"]), _numbers(row["published"])] for row in readings
    ]


def audit_comparison_words(comparison: dict[str, Any]) -> list[str]:
    """What the accuracies come to."""
    return inside_words(comparison["unlike"], comparison["accuracies"], "accuracies")


def _numbers(values: Sequence[float | None]) -> str:
    return "  ".join("–" if value is None else f"{value:.3g}" for value in values)
