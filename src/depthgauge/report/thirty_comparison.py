"""Thirty epochs measured, beside thirty epochs published."""

from __future__ import annotations

from typing import Any

from depthgauge.report.audit_comparison import Table, reading_rows
from depthgauge.report.comparison_table import HEADER, comparison_rows, inside_words

PARTS = {
    "accuracies": "accuracy, %",
    "deep_alignment": "deep Γ, record, %",
    "deep_perturbation": "deep ρ, %",
}


def thirty_comparison_tables(comparison: dict[str, Any]) -> list[Table]:
    """Accuracies, Γ, ρ, and what was published for one seed."""
    tables = [
        ([title, *HEADER[1:]], comparison_rows(comparison[part])) for part, title in PARTS.items()
    ]
    return [*tables, (["seed 42", "measured", "published"], reading_rows(comparison["one_seed"]))]


def thirty_comparison_words(comparison: dict[str, Any]) -> list[str]:
    """What they come to."""
    compared = [
        entry | {"what": f"{entry['what']}: {title.rstrip(', %')}"}
        for part, title in PARTS.items()
        for entry in comparison[part]
    ]
    return inside_words(comparison["unlike"], compared, "figures")
