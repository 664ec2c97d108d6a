"""What can be taken from the page: tables and template by copying, figures as files."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from playwright.sync_api import expect

from depthgauge.report.page.words import dates_of
from depthgauge.report.paper.tables import paper_tables
from depthgauge.report.paper.template import reporting_template
from depthgauge.studies.gathered import gather
from depthgauge.studies.rule_views import rule_views

CLIPBOARD = "() => navigator.clipboard.readText()"
REFUSED = "() => { navigator.clipboard.writeText = () => Promise.reject(new Error('refused')); }"
ALLOWED = "() => { delete navigator.clipboard.writeText; }"


@pytest.fixture(scope="module")
def sources(pages):
    """What is to be copied, in the order of the page."""
    study = gather(pages / "audited")
    views = rule_views(study)
    found = [reporting_template(study, views, dates_of(study)), *paper_tables(study, views)]
    return [text for one in found for text in (one.to_markdown(), one.to_latex())]


def test_each_button_copies_exactly_its_text(audited, sources):
    buttons = audited.all("button.copy")
    assert buttons.count() == len(sources) >= 10
    for index, source in enumerate(sources):
        buttons.nth(index).click()
        expect(buttons.nth(index)).to_have_text("Copied ✓")
        assert audited.page.evaluate(CLIPBOARD) == source
    for index, kind in enumerate(("Markdown", "LaTeX")):
        expect(buttons.nth(index)).to_have_text(f"Copy {kind}")


def test_it_also_works_where_the_clipboard_is_refused(audited, sources):
    button = audited.all("button.copy").nth(3)
    audited.page.evaluate("() => navigator.clipboard.writeText('before')")
    audited.page.evaluate(REFUSED)
    button.click()
    expect(button).to_have_text("Copied ✓")
    expect(button).to_be_focused()
    audited.page.evaluate(ALLOWED)
    assert audited.page.evaluate(CLIPBOARD) == sources[3]
    assert audited.all("textarea").count() == 0


def test_a_failure_to_copy_is_not_called_a_copy(audited):
    button = audited.all("button.copy").nth(4)
    audited.page.evaluate(REFUSED)
    audited.page.evaluate("() => { document.execCommand = () => false; }")
    button.click()
    expect(button).to_have_text("Not copied ✗")
    audited.page.evaluate(ALLOWED)
    audited.page.evaluate("() => { delete document.execCommand; }")


def test_what_is_copied_can_be_looked_at(audited, sources):
    audited.all("#paper summary").nth(1).click()
    shown = audited.all("#paper pre").nth(1)
    expect(shown).to_be_visible()
    assert shown.text_content() == sources[1]


def test_figures_are_files(audited):
    links = audited.all(".figures a")
    names = []
    for index in range(links.count()):
        with audited.page.expect_download() as started:
            links.nth(index).click()
        names.append(started.value.suggested_filename)
        content = started.value.path().read_bytes()
        if names[-1].endswith(".pdf"):
            assert content.startswith(b"%PDF-")
            assert content.rstrip().endswith(b"%%EOF")
        else:
            assert ElementTree.fromstring(content).tag == "{http://www.w3.org/2000/svg}svg"
    figures = ("ladder", "audit", "layers", "training", "null")
    assert names == [f"audited-{name}.{kind}" for name in figures for kind in ("svg", "pdf")]
