"""The tables that compare measured with published figures."""

from __future__ import annotations

from collections.abc import Sequence

from depthgauge.number_format import MISSING, percent, percent_spread, points, significant
from depthgauge.published.compare import FigureComparison, PublishedComparison
from depthgauge.report.tables.table import Table, make_table, numbers, words
from depthgauge.results.spread import Spread

TITLES = {
    "rungs": "",
    "cross_checks": "cross-check",
    "accuracies": "accuracy, %",
    "deep_alignment": "deep Γ, as published, %",
    "deep_perturbation": "deep ρ, %",
}
"""The title of the first column, by part of the comparison."""


def published_tables(comparison: PublishedComparison) -> list[Table]:
    """Return the tables that have rows: verdicts, figures, and readings of one seed.

    Each part of the comparison has a table of its figures.
    """
    verdicts = [
        [row.what, row.measured, row.published or "not published"] for row in comparison.verdicts
    ]
    readings = [
        [row.what, _numbers(row.measured), _numbers(row.published)] for row in comparison.one_seed
    ]
    tables = [
        make_table("published-verdicts", "", words("verdict", "measured", "published"), verdicts),
        *(figure_table(part, figures) for part, figures in comparison.figures.items()),
        make_table("published-readings", "", words("seed 42", "measured", "published"), readings),
    ]
    return [table for table in tables if table.rows]


def figure_table(part: str, figures: Sequence[FigureComparison]) -> Table:
    """Return one row for each figure: accuracies in per cent, differences in points."""
    columns = [
        *words(TITLES[part]),
        *numbers("measured", "n", "published", "difference", "95 % interval"),
        *words("agreement"),
    ]
    rows = [
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
    return make_table(f"published-{part}", "", columns, rows)


def _numbers(values: Sequence[float | None]) -> str:
    return "  ".join(map(significant, values))
