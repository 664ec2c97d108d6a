"""Markdown in which everything is text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report.hostile_names import HOSTILE
from report.writers.markdown_rendered import RENDERER, plain, rendered_tables

from depthgauge.report.tables.table import make_table, numbers, words
from depthgauge.report.writers.markdown_table import markdown_table
from depthgauge.report.writers.markdown_text import markdown_text
from depthgauge.report.writers.plain_text import plain_text

MARKUP = st.text(alphabet=st.sampled_from("\\`*_[](){}<>&|$~!#+-=.:/1a \n\t\x00w@;\"'^"))


def paragraph(text: str) -> str:
    tokens = RENDERER.parse(text)
    if not tokens:
        return ""
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    return plain(tokens[1])


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_come_out_as_text(text):
    assert paragraph(markdown_text(text)) == plain_text(text)


@settings(max_examples=40, deadline=None)
@given(st.text() | MARKUP)
def test_any_text_comes_out_as_it_went_in(text):
    assert paragraph(markdown_text(text)) == plain_text(text)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.text() | MARKUP, st.text() | MARKUP), max_size=4))
def test_a_table_has_the_cells_that_were_put_in(rows):
    table = make_table("x", "", words("rule", "‖h_L‖"), rows)
    (found,) = rendered_tables(markdown_table(table))
    assert found == [["rule", "‖h_L‖"], *([plain_text(cell) for cell in row] for row in rows)]


def test_neither_tags_nor_formulas_are_left_to_the_renderer():
    assert not set("<>$") & set(markdown_text("<b> $x$ </b>"))


def test_numbers_need_no_escape():
    for number in ("+45.1", "1.28×10⁻⁵", "−3.2", "72.1 ± 0.2", "-0.5", "3"):
        assert markdown_text(number) == number


def test_numbers_to_the_right():
    columns = [*words("rule"), *numbers("acc"), *words("verdict")]
    table = make_table("x", "", columns, [["bp", "72.1", "trustworthy"]])
    assert markdown_table(table).splitlines() == [
        "| rule | acc | verdict |",
        "| --- | ---: | --- |",
        "| bp | 72.1 | trustworthy |",
    ]
