"""A table of a paper, in both languages."""

from __future__ import annotations

import pytest
from report.paper.hostile_names import HOSTILE
from report.paper.latex_parsed import tabulars
from report.paper.markdown_rendered import rendered_tables

from depthgauge.report.paper.cells import plain_text
from depthgauge.report.paper.paper_table import ROWS_ON_A_PAGE, PaperTable


def make_table(names: list[str]) -> PaperTable:
    rows = [[name, str(n)] for n, name in enumerate(names)]
    return PaperTable("verdicts", "my_study", "A caption of 50 %.", ["rule", "n"], rows)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_text_in_both_languages(name):
    table = make_table([name])
    assert rendered_tables(table.to_markdown()) == [[["rule", "n"], [plain_text(name), "0"]]]
    ((columns, cells),) = tabulars(table.to_latex())
    assert columns in ("lr", "p{20em}r")
    assert cells == [2, 2]


def test_the_caption_stands_before_the_table():
    assert make_table(["bp"]).to_markdown().startswith("A caption of 50 %.\n\n| rule | n |\n")


def test_latex_says_what_it_needs_and_is_labelled_by_study_and_name():
    latex = make_table(["bp"]).to_latex()
    assert latex.startswith("% \\usepackage{booktabs,textcomp,graphicx}\n\\begin{table}")
    assert r"\label{tab:my-study-verdicts}" in latex
    assert r"\caption{A caption of 50 \%.}" in latex


def test_more_rows_than_a_page_holds_become_several_tables():
    latex = make_table(["bp"] * (ROWS_ON_A_PAGE + 2)).to_latex()
    assert [len(cells) - 1 for _, cells in tabulars(latex)] == [ROWS_ON_A_PAGE, 2]
    assert "Part 2 of 2." in latex
    assert r"\label{tab:my-study-verdicts-2}" in latex
