"""A table as it is pasted into a paper, in both languages."""

from __future__ import annotations

import pytest
from report.hostile_names import HOSTILE
from report.writers.latex_parsed import tabulars
from report.writers.markdown_rendered import rendered_tables

from depthgauge.report.tables.table import Table, make_table, numbers, words
from depthgauge.report.writers.latex_table import ROWS_ON_A_PAGE, latex_table
from depthgauge.report.writers.markdown_table import markdown_table
from depthgauge.report.writers.plain_text import plain_text


def table_of(names: list[str]) -> Table:
    rows = [[name, str(n)] for n, name in enumerate(names)]
    columns = [*words("rule"), *numbers("n")]
    return make_table("verdicts", "A caption of 50 %.", columns, rows)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_text_in_both_languages(name):
    table = table_of([name])
    assert rendered_tables(markdown_table(table)) == [[["rule", "n"], [plain_text(name), "0"]]]
    ((columns, cells),) = tabulars(latex_table(table, "my_study"))
    assert columns in ("lr", "p{20em}r")
    assert cells == [2, 2]


def test_the_caption_stands_before_the_table():
    assert markdown_table(table_of(["bp"]), caption=True).startswith(
        "A caption of 50 %.\n\n| rule | n |\n"
    )


def test_latex_says_what_it_needs_and_is_labelled_by_study_and_name():
    latex = latex_table(table_of(["bp"]), "my_study")
    assert latex.startswith("% \\usepackage{booktabs,textcomp,graphicx}\n\\begin{table}")
    assert r"\label{tab:my-study-verdicts}" in latex
    assert r"\caption{A caption of 50 \%.}" in latex


def test_more_rows_than_a_page_holds_become_several_tables():
    latex = latex_table(table_of(["bp"] * (ROWS_ON_A_PAGE + 2)), "my_study")
    assert [len(cells) - 1 for _, cells in tabulars(latex)] == [ROWS_ON_A_PAGE, 2]
    assert "Part 2 of 2." in latex
    assert r"\label{tab:my-study-verdicts-2}" in latex
