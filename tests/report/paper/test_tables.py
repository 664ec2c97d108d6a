"""Which tables a paper gets of a study, and what is in them."""

from __future__ import annotations

import pytest
from report.hostile_names import HOSTILE
from report.studies import audited_study, make_study, trained_study
from report.writers.markdown_rendered import rendered_tables

from depthgauge.report.paper.tables import paper_tables
from depthgauge.report.tables.table import Table
from depthgauge.report.writers.markdown_table import markdown_table
from depthgauge.report.writers.plain_text import plain_text
from depthgauge.results.study import StudyResult


def tables_of(study: StudyResult) -> dict[str, Table]:
    return {table.name: table for table in paper_tables(study)}


def test_an_audited_study_has_every_table():
    tables = tables_of(audited_study())
    assert list(tables) == ["verdicts", "ladder", "networks", "alignment", "utility", "runs"]


def test_a_study_without_an_audit_has_no_table_of_one():
    assert list(tables_of(trained_study())) == ["verdicts", "ladder", "networks", "runs"]


def test_an_audit_without_a_study_has_no_runs():
    tables = tables_of(audited_study(alone=True))
    assert list(tables) == ["verdicts", "networks", "alignment", "utility"]


def test_an_empty_study_has_no_tables():
    assert tables_of(make_study()) == {}


@pytest.mark.parametrize("study", [trained_study, audited_study])
def test_hostile_names_are_text_in_every_table(study):
    for name in HOSTILE:
        for table in tables_of(study(name)).values():
            (rendered,) = rendered_tables(markdown_table(table))
            names = {row[0] for row in rendered[1:]}
            twins = {"bp, added on noise"} if table.name == "ladder" else set()
            assert names - twins == {"bp", plain_text(name)}
