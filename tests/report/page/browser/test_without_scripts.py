"""Where scripts are off, what the page says can still be read."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from report.page.browser.browser_studies import RULES
from report.page.browser.opened import Opened, new_context

from depthgauge.results.load import load


@pytest.fixture
def unscripted(browser, pages):
    context = new_context(browser, java_script_enabled=False)
    yield Opened(context.new_page(), pages / "audited.html").load()
    context.close()


def test_verdicts_tables_and_runs_are_there_and_nothing_that_would_not_work(unscripted, pages):
    assert unscripted.texts(".card h3") == list(RULES)
    assert unscripted.texts(".card .verdict") == ["? no alarm, depth untested"] * len(RULES)
    assert unscripted.texts(".card .depth b") == ["too few seeds"] * len(RULES)
    study = load(pages / "audited")
    assert len(unscripted.texts("#runs-table tbody tr")) == len(study.runs)
    unscripted.all("#ladder summary").click()
    rows = [
        row
        for rule in study.rules.values()
        for row in (rule.label, *([f"{rule.label}, added on noise"] if rule.twins else []))
    ]
    assert unscripted.texts("#ladder tbody th") == rows
    expect(unscripted.all("noscript .notice")).to_be_visible()
    for dead in (".plot", ".controls", ".legend", "button.copy", ".save", "#theme"):
        assert unscripted.all(dead).filter(visible=True).count() == 0
    unscripted.all("#paper summary").first.click()
    expect(unscripted.all("#paper pre").first).to_be_visible()
