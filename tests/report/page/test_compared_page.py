"""Several studies on one page."""

from __future__ import annotations

import json

import pytest
from report.page.light_pages import light
from report.page.parsed_page import Page
from report.study_folders import BAD, DEAD, GOOD, HEALTHY, SIX_EPOCHS, write_audit
from results.written_studies import compared, write_study

from depthgauge.report.page.compared_page import compared_page, write_compared_page
from depthgauge.report.palette import looks
from depthgauge.report.tables import comparison as tables
from depthgauge.report.texts import comparison as texts

HOSTILE = "<script>alert('1')</script>\"&"


@pytest.fixture(autouse=True)
def _light(monkeypatch):
    light(monkeypatch)


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


def test_rules_are_called_by_their_study_and_each_has_its_look(pair):
    data = Page(compared_page(pair)).data
    names = [rule["method"] for rule in data["rules"]]
    assert sorted(names) == ["bp · one", "bp · other", "dfa · one"]
    expected = looks(names)
    for rule in data["rules"]:
        assert rule["look"] == vars(expected[rule["method"]])
    by_name = {rule["method"]: rule for rule in data["rules"]}
    assert by_name["dfa · one"]["verdict"] == "walk back"
    assert [rung["mean"] for rung in by_name["bp · one"]["ladder"]] == pytest.approx(
        [0.3, 0.4, 0.61]
    )
    assert (data["runs"], data["series"]["values"], data["blocks"]) == ([], "", 2)


def test_what_the_studies_do_not_share_is_left_open(pair, tmp_path):
    elsewhere = write_audit(tmp_path / "elsewhere", {"bp": {1: (0.5, 0.4)}})
    data = Page(compared_page(compared(*(study.path for study in pair.studies), elsewhere))).data
    assert (data["blocks"], data["chance"]) == (None, None)


def test_floors_that_all_studies_share_are_on_the_page_and_others_are_not(tmp_path):
    rungs = {0: {1: 0.5}}
    alike = [write_study(tmp_path / n, {"bp": GOOD, "bp[shallow]": rungs}) for n in ("a", "b")]
    assert Page(compared_page(compared(*alike))).data["floors"] == {"bp[shallow]": 0.5}
    other = write_study(tmp_path / "c", {"bp": GOOD})
    assert Page(compared_page(compared(*alike, other))).data["floors"] == {}


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
    assert page.data["rules"] == []
    assert texts.NO_RULE in page.text
    assert texts.NO_SAME_RULE in page.text


def test_it_is_written_where_it_is_wanted(pair, tmp_path):
    write_compared_page(pair, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert text == compared_page(pair)
    assert json.loads(Page(text).scripts["data"])["rules"]
