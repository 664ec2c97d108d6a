"""A rule can be seen alone, in every chart that shows several."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from report.page.browser.browser_studies import RULES

PANELS = ("D1", "D2", "D2s", "D3")


def ladder_of(page):
    return [trace["name"] for trace in page.chart("ladder-chart")["data"] if "name" in trace]


def drawn_rules(page):
    """The rules in each chart, as it was drawn."""
    panels = [set(page.texts(f"#audit-{name} .ytick text")) for name in PANELS]
    layers = len(page.chart("layers-h")["data"]), page.all("#layers-h .trace").count()
    return ladder_of(page), panels, layers


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
    everything = (list(RULES), [set(RULES)] * 4, (3, 3))
    assert drawn_rules(audited) == everything
    audited.isolate(section, "fa")
    assert drawn_rules(audited) == (["fa"], [{"fa"}] * 4, (1, 1))
    pressed = audited.texts('.legend button[aria-pressed="true"]')
    assert pressed == ["fa"] * 4
    audited.isolate(section, "fa")
    assert drawn_rules(audited) == everything
    assert audited.texts('.legend button[aria-pressed="true"]') == []


def test_another_rule_takes_the_place_of_the_one_alone(audited):
    audited.isolate("ladder", "fa")
    audited.isolate("ladder", "dfa")
    assert drawn_rules(audited) == (["dfa"], [{"dfa"}] * 4, (1, 1))


def test_with_the_keyboard_and_the_focus_stays(audited):
    button = audited.all("#ladder .legend button").nth(1)
    for left, pressed in ((["fa"], "true"), (list(RULES), "false")):
        button.focus()
        audited.page.keyboard.press("Enter")
        audited.drawn()
        assert drawn_rules(audited)[0] == left
        expect(button).to_be_focused()
        expect(button).to_have_attribute("aria-pressed", pressed)


def test_no_other_trace_is_left_in_training(audited):
    audited.isolate("training", "bp")
    shown = [str(trace["hovertemplate"]) for trace in audited.chart("training-chart")["data"]]
    assert ["bp" in text for text in shown] == [True, True, True, False]
    assert "fa" not in "".join(shown)


def test_each_rule_keeps_its_null(audited):
    audited.choose("null-seed", "1")
    before = audited.texts("#null figcaption")
    audited.isolate("ladder", "bp")
    audited.choose("null-seed", "2")
    audited.choose("null-seed", "1")
    assert audited.texts("#null figcaption") == before
    assert len(before) == 2


def test_studies_side_by_side_have_it_too(opened):
    page = opened("compared")
    page.isolate("audit", "fa · half")
    assert ladder_of(page) == ["fa · half"]
    page.isolate("ladder", "fa · half")
    assert len(ladder_of(page)) == 9
