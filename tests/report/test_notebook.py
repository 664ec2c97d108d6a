"""A study as a notebook shows it."""

from __future__ import annotations

import re

from report.studies import audited_study, make_pairs, make_study

from depthgauge.report.notebook import study_html
from depthgauge.results.study import StudyResult


def rows_of(study: StudyResult) -> list[list[str]]:
    html = study_html(study)
    found = re.findall(r"<tr>(.*?)</tr>", html)
    return [re.findall(r"<t[hd]>(.*?)</t[hd]>", row) for row in found]


def test_how_many_blocks_a_rule_trains_leads_the_table():
    header, bp, dfa = rows_of(audited_study())
    assert header == ["rule", "used depth", "verdict", "accuracy", "frozen"]
    assert bp == ["bp", "2 of 2", "trustworthy", "70.1 ± 0.1", "30.0 ± 0.0"]
    assert (dfa[1], dfa[2]) == ("0 of 2", "walk back (D1, D3)")


def test_without_a_ladder_it_says_so_by_a_dash():
    _, bp = rows_of(make_study(*make_pairs("bp", [0.4])[1:]))
    assert (bp[1], bp[2]) == ("–", "no alarm, depth untested (single seed)")


def test_swap_twins_are_in_its_chart():
    assert "hollow: added block on noise" in study_html(audited_study())


def test_a_name_cannot_become_markup():
    assert "<script" not in study_html(audited_study("<script>alert(1)</script>"))
