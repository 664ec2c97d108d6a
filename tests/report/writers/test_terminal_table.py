"""Tables that stay tables whatever is in their cells."""

from __future__ import annotations

import io
from collections import Counter

from rich.console import Console

from depthgauge.report.tables.table import Column, Table, make_table
from depthgauge.report.writers.terminal_table import terminal_table


def table_of(titles: list[str], rows: list[list[str]]) -> Table:
    """A table of words and numbers, whose column `verdict` has verdicts."""
    kinds = {"verdict": "verdict", "acc": "number"}
    columns = [Column(title, kinds.get(title, "words")) for title in titles]
    return make_table("t", "", columns, rows)


def shown(titles: list[str], rows: list[list[str]], width: int = 120) -> str:
    out = io.StringIO()
    Console(file=out, width=width).print(terminal_table(table_of(titles, rows)))
    return out.getvalue()


def test_the_terminal_shows_every_cell():
    text = shown(["rule", "k = 0"], [["bp", "38.9 ± 0.1"], ["dfa", "34.9"]])
    for part in ("rule", "k = 0", "bp", "38.9 ± 0.1", "dfa", "34.9"):
        assert part in text


def test_brackets_are_not_taken_for_markup():
    for where in ["header", "cell"]:
        label = "dfa[normalise=batch]"
        parts = {"header": "rule", "cell": "bp"} | {where: label}
        assert label in shown([parts["header"]], [[parts["cell"]]])


def test_something_that_looks_like_a_closing_tag_is_shown():
    assert "mine[/]" in shown(["rule"], [["mine[/]"]])


def test_a_verdict_has_a_colour_and_brackets_in_it_are_text():
    out = io.StringIO()
    console = Console(file=out, width=80, force_terminal=True, color_system="standard")
    table = table_of(["rule", "verdict"], [["bp", "walk back [b]D1[/]"]])
    console.print(terminal_table(table))
    assert "\x1b[1;31m✗ walk back\x1b[0m [b]D1[/]" in out.getvalue()


def test_numbers_end_at_the_right_and_words_begin_at_the_left():
    rows = [["bp", "7.1", "shallow"], ["dfa", "26.0", "shallow"]]
    _, header, _, bp, dfa, *_ = shown(["rule", "acc", "verdict"], rows).splitlines()
    begin = header.index("verdict")
    assert bp.index("✗") == dfa.index("✗") == begin
    assert bp.index("7.1") + 3 == dfa.index("26.0") + 4 == header.index("acc") + 3


def test_in_a_narrow_terminal_nothing_is_cut():
    for width in [20, 30, 60]:
        cells = ["dfa[normalise=batch,penalty=0.01]", "10/10", "25.7", "D1 in 2 of 3 from epoch 4"]
        text = shown(["rule", "runs", "acc", "fired"], [cells], width)
        assert max(map(len, text.splitlines())) <= width
        assert "…" not in text
        for cell in cells:
            assert Counter(text) >= Counter(cell.replace(" ", ""))


def test_the_widest_columns_are_folded_first():
    text = shown(
        ["rule", "runs", "acc"], [["dfa[normalise=batch,penalty=0.01]", "10/10", "25.7"]], 40
    )
    assert "10/10" in text
    assert "25.7" in text
