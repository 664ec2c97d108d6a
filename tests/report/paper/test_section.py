"""Parts of the template in both languages."""

from __future__ import annotations

import pytest
from report.hostile_names import HOSTILE
from report.writers.latex_parsed import check_text, parsed
from report.writers.markdown_rendered import rendered_items

from depthgauge.report.paper.section import AVOIDED, Item, Section
from depthgauge.report.tables.table import make_table, words
from depthgauge.report.writers.plain_text import plain_text


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_labels_and_texts_are_text(text):
    section = Section(text, (Item(text, text), Item("label", text, AVOIDED)))
    plain = plain_text(text)
    assert rendered_items(section.to_markdown()) == [f"{plain}: {plain}", f"✓ label: {plain}"]
    latex = section.to_latex("s")
    parsed(latex)
    for line in latex.splitlines():
        if line.startswith("  \\item["):
            check_text(line.removeprefix("  \\item"))


def test_what_is_not_said_is_a_dash():
    section = Section("Part", (Item(" ", "\n"),))
    assert rendered_items(section.to_markdown()) == ["–: –"]
    assert r"\item[{\textendash{}}] \textendash{}" in section.to_latex("s")


def test_tables_without_rows_are_left_out():
    empty = make_table("x", "a caption", words("rule"), [])
    full = make_table("y", "another", words("rule"), [["bp"]])
    section = Section("Part", (), (empty, full))
    for text in (section.to_markdown(), section.to_latex("s")):
        assert "a caption" not in text
        assert "another" in text
    assert "description" not in section.to_latex("s")
