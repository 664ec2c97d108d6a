"""Tables that stay tables whatever is in their cells."""

from __future__ import annotations

import io
from collections import Counter

from rich.console import Console
from rich.text import Text

from depthgauge.report.table import terminal_table


def shown(header: list[str], rows: list[list[str | Text]], width: int = 120) -> str:
    out = io.StringIO()
    Console(file=out, width=width).print(terminal_table(header, rows))
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


def test_a_styled_cell_keeps_its_style_and_brackets_in_it_are_text():
    out = io.StringIO()
    console = Console(file=out, width=80, force_terminal=True, color_system="standard")
    console.print(terminal_table(["rule", "word"], [["bp", Text("[b]good[/]", "green")]]))
    assert "\x1b[32m[b]good[/]\x1b[0m" in out.getvalue()


def test_numbers_end_at_the_right_and_styled_words_begin_at_the_left():
    rows = [["bp", "7.1", Text("good")], ["dfa", "26.0", Text("bad")]]
    _, header, _, bp, dfa, *_ = shown(["rule", "acc", "verdict"], rows).splitlines()
    begin = header.index("verdict")
    assert bp.index("good") == dfa.index("bad") == begin
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
