"""Every page draws every chart; that none complains is seen to in `conftest.py`."""

from __future__ import annotations

import pytest
from report.page.browser.browser_studies import NAMES

from depthgauge.results.load import load

ON_PAGE = {"audited": 14, "half": 12, "deep": 12, "hostile": 14, "compared": 5}
NEEDS_AUDIT = dict.fromkeys(
    ("audit-D2s", "layers-gamma", "layers-rho", "layers-lesion", "layers-rewind"),
    "Not read: depthgauge audit reads it.",
)
NOT_DRAWN = {"half": NEEDS_AUDIT, "deep": NEEDS_AUDIT}

CHARTS = """() => Object.fromEntries([...document.querySelectorAll(".plot")].map((plot) => {
  const shapes = plot.querySelectorAll(".main-svg .trace path, .main-svg .trace text").length;
  return [plot.id, shapes || plot.querySelector(".empty")?.textContent || "nothing"];
}))"""


@pytest.mark.parametrize("name", NAMES)
def test_every_chart_is_drawn_or_says_why_not(opened, name):
    charts = opened(name).page.evaluate(CHARTS)
    assert len(charts) == ON_PAGE[name]
    assert {id: is_ for id, is_ in charts.items() if isinstance(is_, str)} == NOT_DRAWN.get(
        name, {}
    )


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
