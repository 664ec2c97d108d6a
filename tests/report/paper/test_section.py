"""Parts of the template in both languages."""

from __future__ import annotations

import pytest
from report.paper.hostile_names import HOSTILE
from report.paper.latex_parsed import check_text, parsed
from report.paper.markdown_rendered import rendered_items

from depthgauge.report.paper.cells import plain_text
from depthgauge.report.paper.paper_table import PaperTable
from depthgauge.report.paper.section import AVOIDED, Item, Section


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_labels_and_texts_are_text(text):
    section = Section(text, (Item(text, text), Item("label", text, AVOIDED)))
    plain = plain_text(text)
    assert rendered_items(section.to_markdown()) == [f"{plain}: {plain}", f"✓ label: {plain}"]
    latex = section.to_latex()
    parsed(latex)
    for line in latex.splitlines():
        if line.startswith("  \\item["):
            check_text(line.removeprefix("  \\item"))


def test_what_is_not_said_is_a_dash():
    section = Section("Part", (Item(" ", "\n"),))
    assert rendered_items(section.to_markdown()) == ["–: –"]
    assert r"\item[{\textendash{}}] \textendash{}" in section.to_latex()


def test_tables_without_rows_are_left_out():
    empty = PaperTable("x", "s", "a caption", ["rule"], [])
    full = PaperTable("y", "s", "another", ["rule"], [["bp"]])
    section = Section("Part", (), (empty, full))
    for text in (section.to_markdown(), section.to_latex()):
        assert "a caption" not in text
        assert "another" in text
    assert "description" not in section.to_latex()
