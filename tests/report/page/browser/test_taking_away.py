"""What can be taken from the page: tables and template by copying, charts as files."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from playwright.sync_api import expect
from report.page.browser.opened import WIDE

from depthgauge.report.charts.colours import DARK, LIGHT
from depthgauge.report.paper.tables import paper_tables
from depthgauge.report.paper.template import reporting_template
from depthgauge.report.texts.study import dates_of
from depthgauge.report.writers.latex_table import latex_table
from depthgauge.report.writers.markdown_table import markdown_table
from depthgauge.results.load import load

CLIPBOARD = "() => navigator.clipboard.readText()"
REFUSED = "() => { navigator.clipboard.writeText = () => Promise.reject(new Error('refused')); }"
ALLOWED = "() => { delete navigator.clipboard.writeText; }"


@pytest.fixture(scope="module")
def sources(pages):
    """What is to be copied, in the order of the page."""
    study = load(pages / "audited")
    template = reporting_template(study, dates_of(study))
    tables = [
        text
        for table in paper_tables(study)
        for text in (markdown_table(table, caption=True), latex_table(table, study.name))
    ]
    return [template.to_markdown(), template.to_latex(), *tables]


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


def download(page, link):
    with page.page.expect_download() as started:
        link.click()
    return started.value.suggested_filename, started.value.path().read_bytes()


@pytest.mark.parametrize("chart", ["ladder-chart", "audit-D2", "null-1"])
def test_a_chart_is_saved_as_it_is_shown(audited, chart):
    audited.isolate("ladder", "fa")
    name, content = download(audited, audited.all(f'[data-save="{chart}"]'))
    assert name == f"audited-{chart}.svg"
    assert b"var(" not in content
    drawing = ElementTree.fromstring(content)
    assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
    texts = ["".join(text.itertext()) for text in drawing.iter(f"{drawing.tag[:-3]}text")]
    assert texts == audited.all(f"#{chart} text").all_text_contents() != []


def test_a_saved_chart_has_the_colours_of_the_page(audited):
    for scheme, colours in (("light", LIGHT), ("dark", DARK)):
        audited.look(WIDE, scheme)
        _, content = download(audited, audited.all('[data-save="ladder-chart"]'))
        first = ElementTree.fromstring(content)[0]
        assert (first.attrib["width"], first.attrib["fill"]) == ("100%", colours["paper"])
        assert f'stroke="{colours["rule-0"]}"'.encode() in content
