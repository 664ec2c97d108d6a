"""A run's own window: where it comes from and what became of it."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect
from report.page.browser.browser_studies import BLOCKS, find_run
from report.page.browser.opened import Opened, new_context


def rows(page):
    """What the window says, as pairs; what is said first counts."""
    found = [text.partition("\t")[::2] for text in page.texts("#run-dialog tr")]
    return dict(reversed(found))


@pytest.mark.parametrize("way", ["Escape", "✕", "outside"])
def test_a_run_is_opened_closed_and_the_focus_comes_back(audited, pages, way):
    run = find_run(pages / "audited", "dfa", 1, 2)
    link = audited.all(f'#runs-table td:first-child [data-run="{run.path.name}"]')
    link.click()
    expect(audited.page.get_by_role("dialog", name="dfa, k = 1, seed 2")).to_be_visible()
    if way == "Escape":
        audited.page.keyboard.press("Escape")
    elif way == "✕":
        audited.page.get_by_role("button", name="Close").click()
    else:
        audited.page.mouse.click(5, 450)
    expect(audited.all("#run-dialog")).to_be_hidden()
    expect(link).to_be_focused()


def test_it_has_configuration_provenance_and_readings(audited, pages):
    run = find_run(pages / "audited", "dfa", BLOCKS, 2)
    audited.all("#audit summary").first.click()
    audited.all(f'#audit [data-run="{run.path.name}"]').first.click()
    said, result = rows(audited), json.loads(run.result_path.read_text())
    assert said["folder"] == f"runs/{run.path.name}"
    assert (said["state"], said["accuracy"]) == ("finished", f"{100 * result['final_acc']:.1f} %")
    assert (said["epochs recorded"], said["net.width"], said["rule.label"]) == ("2", "16", "dfa")
    assert said["torch"] == result["provenance"]["torch"]
    assert said["cohort"] == ", ".join(result["provenance"]["cohort"])
    assert "ratio of medians" in said["D1 scale"]
    titles = ["Result", "Readings", "Configuration", "Provenance"]
    assert audited.texts("#run-body h3") == titles


def test_a_failed_run_says_why(opened, pages):
    page = opened("half")
    run = find_run(pages / "half", "dfa", BLOCKS, 2)
    page.all(f'#runs-table td:first-child [data-run="{run.path.name}"]').click()
    said = rows(page)
    assert (said["state"], said["accuracy"]) == ("failed", "–")
    assert said["reason"] == "ZeroDivisionError: the author divided by zero"


@pytest.fixture
def fresh(browser, pages):
    """A page that has not been opened yet."""
    context = new_context(browser)
    yield Opened(context.new_page(), pages / "audited.html")
    context.close()


def test_its_address_opens_it(fresh, pages):
    run = find_run(pages / "audited", "fa", 0, 1)
    fresh.load(f"#run-{run.path.name}")
    expect(fresh.page.get_by_role("dialog", name="fa, k = 0, seed 1")).to_be_visible()
    fresh.page.keyboard.press("Escape")
    other = find_run(pages / "audited", "fa", 1, 2)
    fresh.page.evaluate("(id) => { location.hash = `#run-${id}`; }", other.path.name)
    expect(fresh.page.get_by_role("dialog", name="fa, k = 1, seed 2")).to_be_visible()
    assert fresh.troubles == []


def test_an_address_of_nothing_does_no_harm(audited):
    for fragment in ("#%", "#run-", "#run-nothing"):
        audited.page.evaluate("(fragment) => { location.hash = fragment; }", fragment)
    expect(audited.all("#run-dialog")).to_be_hidden()
