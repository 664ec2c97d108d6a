"""The tables of a study for a paper."""

from __future__ import annotations

from depthgauge.report.score_words import words_of
from depthgauge.report.tables.ladder import ladder_table
from depthgauge.report.tables.layers import alignment_table, in_parts, perturbation_table
from depthgauge.report.tables.networks import network_table
from depthgauge.report.tables.runs import PAPER, run_table
from depthgauge.report.tables.table import Table
from depthgauge.report.tables.utility import utility_table
from depthgauge.report.tables.verdicts import verdict_table
from depthgauge.results.study import StudyResult


def paper_tables(study: StudyResult) -> list[Table]:
    """Return the tables that have rows.

    There are tables of verdicts, ladder, networks, alignment (Γ), perturbation correlation (ρ),
    decision utility and runs.
    """
    tables = [
        verdict_table(study),
        ladder_table(study),
        network_table(study),
        *in_parts(alignment_table(study)),
        *in_parts(perturbation_table(study)),
        utility_table(study),
        run_table(study).only(*PAPER),
    ]
    return [table.reworded(words_of(study)) for table in tables if table.rows]
