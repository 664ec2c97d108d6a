"""Whatever names and messages contain, it is text."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from report.page.browser.browser_studies import (
    BLOCKS,
    HOSTILE,
    HOSTILE_PROCESSOR,
    HOSTILE_REASON,
    HOSTILE_STUDY,
    find_run,
)
from report.page.browser.opened import WIDE

from depthgauge.report.charts.labels import plain
from depthgauge.report.charts.ladder_data import LONGEST_NAME

BP, FA, DFA = HOSTILE.values()
INJECTED = """() => ({
  scripts: document.scripts.length,
  elements: document.querySelectorAll("img, iframe, svg[onload], td b, h3 *, pre *").length,
  handlers: document.querySelectorAll("[onerror], [onload]").length,
})"""


@pytest.fixture
def hostile(opened):
    return opened("hostile")


def open_run(page, pages, rule, k, seed):
    run = find_run(pages / HOSTILE_STUDY, rule, k, seed)
    page.all(f'#runs-table td:first-child [data-run="{run.path.name}"]').click()
    expect(page.page.get_by_role("dialog")).to_be_visible()


@pytest.mark.parametrize("name", ["hostile", "compared"])
def test_no_element_comes_out_of_a_name(opened, name):
    page = opened(name)
    found = page.page.evaluate(INJECTED)
    assert found == {"scripts": 3, "elements": 0, "handlers": 0}


def test_names_are_text_in_cards_legends_tables_and_copied_texts(hostile):
    assert hostile.page.title() == f"{HOSTILE_STUDY} · depthgauge"
    assert hostile.texts(".card h3") == [BP, FA, DFA]
    assert hostile.texts("#training .legend button") == [BP, FA, DFA]
    assert set(hostile.texts("#runs-table td:nth-child(2)")) == {BP, FA, DFA}
    for title, name in zip(hostile.texts("#null figcaption"), (FA, DFA), strict=True):
        assert title.startswith(name)
    hostile.all("#ladder summary").click()
    named = dict.fromkeys(
        text.removesuffix(", added on noise") for text in hostile.texts("#ladder tbody th")
    )
    assert list(named) == [BP, FA, DFA]
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in hostile.all("#template-1").text_content()


def test_names_are_text_in_charts(hostile):
    drawn = [mark["text"] for mark in hostile.marks("ladder-chart", "text", "rule", "name")]
    assert set(drawn) == {plain(name, LONGEST_NAME) for name in HOSTILE.values()}
    for panel in ("D1", "D2", "D2s", "D3"):
        shown = hostile.texts(f"#audit-{panel} .role-axis-label text")
        for name in HOSTILE.values():
            assert any(text and name.startswith(text.rstrip("…")) for text in shown)


@pytest.mark.parametrize(
    ("chart", "kind", "name"),
    [("ladder-chart", "symbol", FA), ("layers-h", "symbol", BP), ("null-1", "rule", DFA)],
)
def test_names_are_text_beside_the_pointer(hostile, chart, kind, name):
    hostile.isolate("ladder", name)
    mark = next(mark for mark in hostile.marks(chart, kind, "says") if mark["seen"])
    tooltip = hostile.point_at(mark)
    expect(tooltip).to_have_text(mark["datum"]["says"])
    box = tooltip.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= WIDE["width"]
    assert tooltip.locator("*").count() == 0
    assert hostile.page.evaluate(INJECTED)["elements"] == 0


def test_names_reasons_and_provenance_are_text_in_a_runs_window(hostile, pages):
    open_run(hostile, pages, FA, 1, 1)
    expect(hostile.all("#run-title")).to_have_text(f"{FA}, k = 1, seed 1")
    expect(hostile.all("#run-body")).to_contain_text(HOSTILE_REASON)
    hostile.page.keyboard.press("Escape")
    open_run(hostile, pages, DFA, BLOCKS, 1)
    expect(hostile.all("#run-title")).to_have_text(f"{DFA}, k = {BLOCKS}, seed 1")
    expect(hostile.all("#run-body")).to_contain_text(HOSTILE_PROCESSOR)
    assert hostile.page.evaluate(INJECTED)["elements"] == 0


@pytest.mark.parametrize("index", range(3))
def test_a_number_of_such_a_rule_leads_to_its_runs(hostile, index):
    hostile.all(".card").nth(index).locator("a").nth(1).click()
    assert hostile.texts("#runs-table td:nth-child(2)") == [list(HOSTILE.values())[index]] * 2
    assert hostile.texts("#runs-table td:nth-child(3)") == ["0", "0"]


def test_such_a_rule_can_be_seen_alone(hostile):
    hostile.isolate("ladder", DFA)
    assert {mark["datum"]["rule"] for mark in hostile.marks("audit-D1", "symbol")} == {DFA}


def test_names_are_text_side_by_side(opened):
    page = opened("compared")
    rules = page.texts("#audit .legend button")
    assert f"{FA} · {HOSTILE_STUDY}" in rules
    assert FA in page.texts("#rules tbody th")[0] + " ".join(page.texts("#rules tbody td"))
