"""Every page draws every chart; that none complains is seen to in `conftest.py`."""

from __future__ import annotations

import pytest
from report.page.browser.browser_studies import NAMES

from depthgauge.results.load import load

OF_TRAINING = {"ladder-chart", "audit-D1", "audit-D2", "audit-D3", "layers-h", "layers-g"}
OF_TRAINING |= {f"training-{name}" for name in ("accuracy", "loss", "growth", "gradient")}
OF_AUDIT = {"audit-D2s", "null-0", "null-1"}
OF_AUDIT |= {f"layers-{name}" for name in ("gamma", "rho", "lesion", "rewind")}
TRAINED = OF_TRAINING | {"training-error_share"}
ON_PAGE = {
    "audited": TRAINED | OF_AUDIT,
    "half": TRAINED,
    "deep": OF_TRAINING,
    "hostile": TRAINED | OF_AUDIT,
    "compared": {"ladder-chart", "audit-D1", "audit-D2", "audit-D2s", "audit-D3"},
}


@pytest.mark.parametrize("name", NAMES)
def test_every_chart_is_drawn(opened, name):
    page = opened(name)
    assert set(page.charts) == ON_PAGE[name]
    for chart in page.charts:
        assert {"line", "symbol", "rect"} & {mark["kind"] for mark in page.marks(chart)}, chart


@pytest.mark.parametrize("name", ["half", "deep"])
def test_what_was_not_read_is_said_instead_of_a_chart(opened, name):
    page = opened(name)
    assert page.texts("#audit .empty") == [
        "Not read yet: D2s stability. Run depthgauge audit to read more."
    ]
    (said,) = page.texts("#null .empty")
    assert said.startswith("No null was drawn: it needs depthgauge audit")


def test_the_browser_refuses_a_script_that_is_not_the_pages_own(opened):
    page = opened("half")
    page.page.evaluate(
        """() => document.body.append(Object.assign(document.createElement("script"),
           {textContent: "document.title = 'taken over'"}))"""
    )
    assert page.page.title() == "half · depthgauge"
    (refused,) = page.troubles
    assert "Content Security Policy" in refused
    page.troubles.clear()
    page.page.evaluate("() => document.body.lastElementChild.remove()")


def test_half_a_study_says_so(opened, pages):
    page = opened("half")
    every = len(load(pages / "half").runs)
    assert page.texts(".notice") == [
        f"This study is not complete: {every - 3} of {every} runs have finished; 1 failed, 1 "
        "stopped, 1 waiting."
    ]
    assert "no run with all blocks" in page.all(".card").filter(has_text="dfa").inner_text().lower()


def test_a_link_leads_past_the_sections_to_the_content(audited):
    audited.all("#theme").focus()
    audited.page.keyboard.press("Shift+Tab")
    assert audited.texts(":focus") == ["Skip to the content"]
    audited.page.keyboard.press("Enter")
    audited.page.keyboard.press("Tab")
    assert audited.page.evaluate("() => document.activeElement.closest('main') !== null")
