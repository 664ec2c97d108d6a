"""LaTeX in which everything is text."""

from __future__ import annotations

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report.hostile_names import HOSTILE
from report.writers.latex_parsed import check_text, parsed, tabulars, text_of

from depthgauge.report.tables.table import make_table, numbers, words
from depthgauge.report.writers.latex_symbols import SYMBOLS
from depthgauge.report.writers.latex_table import latex_table
from depthgauge.report.writers.latex_text import latex_text
from depthgauge.report.writers.plain_text import plain_text

PRINTABLE = st.text(alphabet=st.sampled_from(string.printable))


@settings(max_examples=40, deadline=None)
@given(st.text() | PRINTABLE | st.text(alphabet=st.sampled_from([*SYMBOLS, "-", ",", "\u0301"])))
def test_any_text_is_balanced_and_has_no_special_character(text):
    check_text(latex_text(text))


@settings(max_examples=40, deadline=None)
@given(PRINTABLE)
def test_every_character_of_a_keyboard_is_still_there(text):
    assert text_of(latex_text(text)) == plain_text(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_are_text(text):
    check_text(latex_text(text))


def test_symbols():
    for text, latex in [
        ("Γ, ρ, λ, ∂", r"$\Gamma$, $\rho$, $\lambda$, $\partial$"),
        ("72.1 ± 0.2", r"72.1 $\pm$ 0.2"),
        ("−3.2", "$-$3.2"),
        ("≤ ≥ …", r"$\le$ $\ge$ \ldots{}"),
        ("a – b", r"a \textendash{} b"),
        ("✓", r"$\surd$"),
        ("‖h_L‖", r"$\|h_L\|$"),
        ("‖g_L‖/‖e‖", r"$\|g_L\|$/$\|e\|$"),
        ("1.2×10⁻⁹", r"$1.2\times10^{-9}$"),
        ("−4×10³", r"$-4\times10^{3}$"),
        ("32×32", r"32$\times$32"),
        ("²³", "$^{2}${}$^{3}$"),
        ("naïve Å", r"na\"{\i}ve \r{A}"),
        ("*x*", "{*}x{*}"),
        ("[l]", "{[}l{]}"),
        ("V\u0304", r"\={V}"),
        ("中", "{[}U+4E2D{]}"),
        ("a\u0301\u0301", r"\'{a}{[}U+0301{]}"),
    ]:
        assert latex_text(text) == latex


def test_characters_do_not_run_together():
    for text in ["a--b", "a---b", "a,,b", "''", "``", "?`", "<<", ">>"]:
        latex = latex_text(text)
        assert not any(pair in latex for pair in ("--", ",,", "''", "``", "?`", "<<", ">>"))


def test_labels_are_not_taken_for_numbers():
    assert latex_text("dfa[epsilon=1e-08]") == "dfa{[}epsilon=1e-08{]}"


def test_long_words_may_be_broken():
    assert r"\allowbreak{}" in latex_text("8e65" * 16)
    assert latex_text("trustworthy") == "trustworthy"


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.text(), PRINTABLE, st.just("1.0")), max_size=3), st.text())
def test_a_table_has_as_many_cells_in_each_row_as_columns(rows, caption):
    table = make_table("x", caption, [*words("a", "b"), *numbers("c")], rows)
    ((columns, cells),) = tabulars(latex_table(table, "s"))
    assert cells == [3] * (1 + len(rows))
    assert latex_table(table, "s").isascii()
    assert columns.endswith("r")


def test_a_table_of_booktabs():
    columns = [*words("rule"), *numbers("acc")]
    table = make_table("verdicts", "A caption: 50 %.", columns, [["bp", "72.1"]])
    assert [line.strip() for line in latex_table(table, "my_study").splitlines()] == [
        r"% \usepackage{booktabs,textcomp,graphicx}",
        r"\begin{table}[htbp]",
        r"\centering\small\setlength{\belowcaptionskip}{6pt}",
        r"\caption{A caption: 50 \%.}",
        r"\label{tab:my-study-verdicts}",
        r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%",
        r"\begin{tabular}{@{}lr@{}}",
        r"\toprule",
        r"rule & acc \tabularnewline",
        r"\midrule",
        r"bp & 72.1 \tabularnewline",
        r"\bottomrule",
        r"\end{tabular}}",
        r"\end{table}",
    ]


def test_long_words_stand_on_several_lines():
    rows = [["bp", "inconclusive (D1: about 1 more seed needed)"]]
    latex = latex_table(make_table("x", "", words("rule", "verdict"), rows), "s")
    assert "@{}lp{12em}@{}" in latex
    assert r"\raggedright inconclusive" in latex


def test_the_parser_would_see_what_is_not_balanced():
    with pytest.raises(Exception, match="Unexpected end of stream"):
        parsed("{a")
    with pytest.raises(AssertionError):
        check_text("a & b")
    with pytest.raises(AssertionError):
        check_text("50 % off")
