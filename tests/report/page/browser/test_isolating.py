"""A rule can be seen alone, in every chart that shows several."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from report.page.browser.browser_studies import RULES

NULLS = {"null-0": {"fa"}, "null-1": {"dfa"}}
"""Charts of one rule each."""


def drawn_rules(page):
    """The rules in each chart, as it is drawn."""
    return {
        chart: {mark["datum"]["rule"] for mark in page.marks(chart) if "rule" in mark["datum"]}
        for chart in page.charts
    }


def with_rules(page, *rules):
    """What is drawn if these rules are."""
    return {chart: set(rules) for chart in page.charts} | NULLS


@pytest.mark.parametrize(
    "section",
    [
        "ladder",
        "training",
        pytest.param("audit", marks=pytest.mark.slow),
        pytest.param("layers", marks=pytest.mark.slow),
    ],
)
def test_a_click_in_any_legend_leaves_one_rule_and_another_brings_all_back(audited, section):
    assert drawn_rules(audited) == with_rules(audited, *RULES)
    audited.isolate(section, "fa")
    assert drawn_rules(audited) == with_rules(audited, "fa")
    assert audited.texts('.legend button[aria-pressed="true"]') == ["fa"] * 4
    audited.isolate(section, "fa")
    assert drawn_rules(audited) == with_rules(audited, *RULES)
    assert audited.texts('.legend button[aria-pressed="true"]') == []


def test_another_rule_takes_the_place_of_the_one_alone(audited):
    audited.isolate("ladder", "fa")
    audited.isolate("ladder", "dfa")
    assert drawn_rules(audited) == with_rules(audited, "dfa")


def test_with_the_keyboard_and_the_focus_stays(audited):
    button = audited.all("#ladder .legend button").nth(1)
    for left, pressed in ((["fa"], "true"), (list(RULES), "false")):
        button.focus()
        audited.page.keyboard.press("Enter")
        audited.drawn()
        assert drawn_rules(audited) == with_rules(audited, *left)
        expect(button).to_be_focused()
        expect(button).to_have_attribute("aria-pressed", pressed)


def test_a_rule_stays_alone_whatever_is_chosen(audited):
    audited.isolate("training", "bp")
    audited.choose("training", "k", "1")
    audited.choose("layers", "seed", "1")
    assert drawn_rules(audited) == with_rules(audited, "bp")


def test_a_rule_alone_stays_where_it_was(audited):
    """The axes are those of all rules, so that it can be compared with them."""

    def places(chart):
        return [(mark["x"], mark["y"]) for mark in audited.marks(chart, "symbol", "run")]

    charts = ("ladder-chart", "audit-D1")
    before = {chart: places(chart) for chart in charts}
    audited.isolate("ladder", "fa")
    for chart in charts:
        assert places(chart) != []
        assert set(places(chart)) < set(before[chart])


def test_studies_side_by_side_have_it_too(opened):
    page = opened("compared")
    page.isolate("audit", "fa · half")
    assert set().union(*drawn_rules(page).values()) == {"fa · half"}
    page.isolate("ladder", "fa · half")
    assert len(drawn_rules(page)["ladder-chart"]) == 9
