"""Measured beside published: tables and words of a comparison."""

from __future__ import annotations

from collections.abc import Sequence

from depthgauge.number_format import MISSING, percent, percent_spread, points, significant
from depthgauge.published.compare import CROSS_CHECKS, FigureComparison, PublishedComparison
from depthgauge.report.audit_table import Table
from depthgauge.results.spread import Spread

HEADER = ["measured", "n", "published", "difference", "95 % interval", ""]

TITLES = {
    "rungs": "",
    "cross_checks": "cross-check",
    "accuracies": "accuracy, %",
    "deep_alignment": "deep Γ, as published, %",
    "deep_perturbation": "deep ρ, %",
}
"""What the figures of a part are of."""


def published_tables(comparison: PublishedComparison) -> list[Table]:
    """Verdicts, then every part with its figures, then the readings of one seed."""
    verdicts = [
        [row.what, row.measured, row.published or "not published"] for row in comparison.verdicts
    ]
    readings = [
        [row.what, _numbers(row.measured), _numbers(row.published)] for row in comparison.one_seed
    ]
    tables: list[Table] = [
        (["verdict", "measured", "published"], verdicts),
        *(
            ([TITLES[part], *HEADER], figure_rows(figures))
            for part, figures in comparison.figures.items()
        ),
        (["seed 42", "measured", "published"], readings),
    ]
    return [table for table in tables if table[1]]


def figure_rows(figures: Sequence[FigureComparison]) -> list[list[str]]:
    """One row for each figure: accuracies in per cent, differences in points."""
    return [
        [
            figure.what,
            percent_spread(Spread(figure.measured, figure.measured_std, figure.n)),
            str(figure.n),
            percent_spread(Spread(figure.published, figure.published_std, figure.n)),
            points(figure.difference),
            MISSING if figure.half_width is None else f"± {percent(figure.half_width)}",
            {True: "inside", False: "OUTSIDE", None: "not alike"}[figure.inside],
        ]
        for figure in figures
    ]


def published_words(comparison: PublishedComparison) -> list[str]:
    """How many figures lie inside their interval, and which do not; cross-checks do not count."""
    if comparison.unlike:
        return [
            f"Measured otherwise than published ({', '.join(comparison.unlike)}): the differences "
            "include that, so no interval is given."
        ]
    parts = {part: own for part, own in comparison.figures.items() if part != CROSS_CHECKS}
    several = sum(map(bool, parts.values())) > 1
    compared = [(part, figure) for part, own in parts.items() for figure in own]
    outside = [
        f"{figure.what}: {TITLES[part].rstrip(', %')}" if several else figure.what
        for part, figure in compared
        if not figure.inside
    ]
    name = "figures" if several else next(iter(parts), "figures")
    words = [f"{len(compared) - len(outside)} of {len(compared)} {name} lie inside their interval."]
    return [*words, f"Outside: {', '.join(outside)}."] if outside else words


def _numbers(values: Sequence[float | None]) -> str:
    return "  ".join(significant(value) for value in values)
