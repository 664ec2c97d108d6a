"""Several studies on one page."""

from __future__ import annotations

import json

import pytest
from report.page.parsed_page import Page
from report.study_folders import BAD, DEAD, GOOD, HEALTHY, SIX_EPOCHS
from results.written_studies import compared, put_plan, write_study
from store.small_runs_on_disk import run_config

from depthgauge.report.charts.rule_styles import rule_styles
from depthgauge.report.page.compared_page import compared_page, write_compared_page
from depthgauge.report.tables import comparison as tables
from depthgauge.report.texts import comparison as texts
from depthgauge.store.study_folder import StudyFolder

HOSTILE = "<script>alert('1')</script>\"&"


@pytest.fixture
def pair(tmp_path):
    readings = {"bp": HEALTHY, "dfa": DEAD}
    one = write_study(tmp_path / "one", {"bp": GOOD, "dfa": BAD}, readings=readings)
    other = write_study(tmp_path / "other", {"bp": GOOD}, recipe=SIX_EPOCHS, readings=readings)
    return compared(one, other)


def test_the_same_words_and_numbers_as_in_the_terminal(pair):
    page = Page(compared_page(pair))
    for sentence in (*texts.study_sentences(pair), texts.HOW_TO_READ):
        assert " ".join(sentence.split()) in page.text
    for make in (tables.rule_table, tables.same_rule_table, tables.against_table):
        table = make(pair)
        assert table.rows
        for text in (*table.titles, *(text for row in table.texts for text in row)):
            assert " ".join(text.split()) in page.text


def legends(page: Page) -> list[list[str]]:
    """Return the rules that each legend names."""
    rules = page.values("data-rule")
    half = len(rules) // 2
    return [rules[:half], rules[half:]]


def test_rules_are_called_by_their_study_and_each_has_its_style(pair):
    page = Page(compared_page(pair))
    names = ["dfa · one", "bp · one", "bp · other"]
    assert legends(page) == [names] * 2
    styles = rule_styles(names)
    fills = [a["style"] for tag, a in page.elements if tag == "path"]
    assert fills == [f"fill:{styles[name].colour}" for name in names] * 2
    assert (page.data["runs"], page.data["readings"]) == ({}, {})


def test_ladders_and_readings_of_all_studies_are_in_one_chart(pair):
    rows = Page(compared_page(pair)).data["rows"]
    means = rows["ladder-chart:means"]
    assert means["rule"] == {"runs": [["dfa · one", 2], ["bp · one", 3], ["bp · other", 3]]}
    assert means["accuracy"] == [30.5, 25, 30, 40, 61, 30, 40, 61]
    growth = rows["audit-D1:seeds"]
    assert growth["rule"] == ["bp · one", "bp · one", "bp · other", "bp · other", "dfa · one"]
    assert growth["value"] == {"runs": [[1.5, 4], [900, 1]]}
    assert growth["run"] == {"runs": [[None, 5]]}


def lines_of(*folders) -> list[str]:
    """Return the names of lines across the chart of ladders."""
    page = Page(compared_page(compared(*folders)))
    return page.data["rows"].get("ladder-chart:floor_names", {}).get("name", [])


@pytest.mark.parametrize(("chances", "shown"), [((0.1, 0.1), ["chance 10.0 %"]), ((0.1, 0.2), [])])
def test_a_chance_that_the_studies_do_not_share_is_left_open(pair, chances, shown):
    folders = [study.path for study in pair.studies]
    for folder, chance in zip(folders, chances, strict=True):
        put_plan(StudyFolder(folder), [run_config("bp", 1, 9)], chance)
    assert lines_of(*folders) == shown


def test_floors_that_all_studies_share_are_on_the_page_and_others_are_not(tmp_path):
    rungs = {0: {1: 0.5}}
    alike = [write_study(tmp_path / n, {"bp": GOOD, "bp[shallow]": rungs}) for n in ("a", "b")]
    assert "bp[shallow] 50.0 %" in lines_of(*alike)
    other = write_study(tmp_path / "c", {"bp": GOOD})
    assert "bp[shallow] 50.0 %" not in lines_of(*alike, other)


def test_nothing_on_the_page_comes_from_data_but_text(tmp_path):
    pages = []
    for name, rule in (("plain", "mine"), ("<i>\"'&", HOSTILE)):
        folders = [tmp_path / f"{number}{name}" for number in (1, 2)]
        for folder in folders:
            write_study(folder, {"bp": GOOD, rule: GOOD}, commit=rule, version=rule)
        pages.append(Page(compared_page(compared(*folders))))
    plain, odd = pages
    assert odd.skeleton == plain.skeleton
    assert HOSTILE in odd.text
    assert "</" not in odd.scripts["data"]


def test_links_lead_somewhere(pair):
    page = Page(compared_page(pair))
    ids = page.values("id")
    assert len(set(ids)) == len(ids)
    assert {value[1:] for value in page.values("href") if value.startswith("#")} <= set(ids)


def test_studies_with_nothing_done(tmp_path):
    page = Page(compared_page(compared(*(write_study(tmp_path / n, {}) for n in ("a", "b")))))
    assert page.values("data-rule") == []
    assert texts.NO_RULE in page.text
    assert texts.NO_SAME_RULE in page.text


def test_it_is_written_where_it_is_wanted(pair, tmp_path):
    write_compared_page(pair, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert text == compared_page(pair)
    assert json.loads(Page(text).scripts["data"])["charts"]
