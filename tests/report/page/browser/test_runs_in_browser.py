"""The table of runs: sorted, filtered, and where numbers lead to."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from depthgauge.results.load import load

HEADER = ["run", "rule", "k", "seed", "state", "epochs", "accuracy", "growth", "‖g_L‖"]
HEADER += ["D1 fired", "D2 fired", "cohort time", "commit"]
MISSING = ("–", "n/a", "never")


def column(page, name):
    """The cells of a column that can be seen, from top to bottom."""
    return page.texts(f"#runs-table tbody td:nth-child({HEADER.index(name) + 1})")


def click(page, name):
    """Click a heading; tell which heading is marked as sorted, and how."""
    page.all("#runs-table thead button").nth(HEADER.index(name)).click()
    marked = page.all("#runs-table th[aria-sort]")
    assert marked.count() == 1
    assert marked.inner_text().split(" ▲")[0].split(" ▼")[0] == name
    return marked.get_attribute("aria-sort")


def number(text):
    return float(text.removeprefix("epoch ").replace("∞", "inf").split()[0])


def test_numbers_are_sorted_as_numbers_and_what_is_missing_comes_last(opened):
    page = opened("deep")
    for name, key, first in (
        ("k", number, "0"),
        ("accuracy", number, "30.0"),
        ("growth", number, "2"),
        ("D1 fired", number, "epoch 2"),
        ("cohort time", number, "8 s"),
        ("rule", str, "bp"),
    ):
        assert_sorted(page, name, key, first)


def assert_sorted(page, name, key, first):
    """By a click in either direction, whatever the order was before."""
    click(page, "run")
    assert click(page, name) == "ascending"
    shown = column(page, name)
    known = [text for text in shown if text not in MISSING]
    assert known == sorted(known, key=key)
    assert known[0] == first
    assert shown[: len(known)] == known
    assert click(page, name) == "descending"
    shown = column(page, name)
    assert shown[: len(known)] == sorted(known, key=key, reverse=True)
    assert all(text in MISSING for text in shown[len(known) :])


def test_a_row_stays_together_when_sorted(opened):
    page = opened("deep")
    before = dict(zip(column(page, "run"), column(page, "accuracy"), strict=True))
    click(page, "accuracy")
    assert dict(zip(column(page, "run"), column(page, "accuracy"), strict=True)) == before
    assert len(before) == 12


def test_the_missing_columns_do_have_something_missing(opened):
    page = opened("deep")
    assert "–" in column(page, "cohort time")
    assert "never" in column(page, "D1 fired")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        (
            "audited",
            {
                "dfa k=2": [("dfa", "2", "1"), ("dfa", "2", "2")],
                "seed=2 rule=fa k=0": [("fa", "0", "2")],
                "K=1 FINISHED rule=BP": [("bp", "1", "1"), ("bp", "1", "2")],
                "k=7": [],
            },
        ),
        ("deep", {"bp k=1": [("bp", "1", "1"), ("bp", "1", "2")]}),
        ("half", {"failed": [("dfa", "2", "2")], "waiting": [("dfa", "2", "1")]}),
    ],
)
def test_a_filter_leaves_the_rows_that_have_every_word(opened, name, found):
    page = opened(name)
    every = len(column(page, "run"))
    for typed, rows in found.items():
        page.page.get_by_label("Filter").fill(typed)
        shown = zip(*(column(page, one) for one in ("rule", "k", "seed")), strict=True)
        assert sorted(shown) == rows
        told = page.page.get_by_role("status").and_(page.all("#runs-count"))
        expect(told).to_have_text(f"{len(rows)} of {every} runs")
    page.page.get_by_label("Filter").fill("")
    assert len(column(page, "run")) == every


def test_a_number_of_a_card_leads_to_its_runs(audited):
    named = audited.page.get_by_role("heading", name="fa", exact=True)
    audited.all("article.card").filter(has=named).locator("a").nth(1).click()
    assert set(column(audited, "rule")) == {"fa"}
    assert column(audited, "k") == ["0", "0"]
    expect(audited.all("#runs-table")).to_be_in_viewport()


def test_a_number_of_the_ladder_leads_to_its_runs(audited):
    audited.all("#ladder summary").click()
    name = audited.page.get_by_role("rowheader", name="fa", exact=True)
    row = audited.all("#ladder tbody tr").filter(has=name)
    row.locator("td").nth(2).locator("a").click()
    assert column(audited, "rule") == ["fa", "fa"]
    assert column(audited, "k") == ["2", "2"]


def test_a_swap_twin_of_the_ladder_leads_to_its_run(audited):
    audited.all("#ladder summary").click()
    name = audited.page.get_by_role("rowheader", name="bp, added on noise")
    audited.all("#ladder tbody tr").filter(has=name).locator("a").last.click()
    title = re.compile(r"^bp, k = \d \(block \d on noise\), seed 1$")
    expect(audited.page.get_by_role("dialog", name=title)).to_be_visible()


def test_runs_that_failed_or_were_not_begun_are_there(opened, pages):
    page = opened("half")
    states = column(page, "state")
    assert sorted(set(states)) == ["failed", "finished", "stopped", "waiting"]
    assert len(states) == len(load(pages / "half").runs)
    assert any("on noise" in k for k in column(page, "k"))
