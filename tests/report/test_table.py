"""Tables that stay tables whatever is in their cells."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from depthgauge.report.table import markdown_table, terminal_table


def shown(header: list[str], rows: list[list[str]]) -> str:
    out = io.StringIO()
    Console(file=out, width=120).print(terminal_table(header, rows))
    return out.getvalue()


def test_markdown():
    assert markdown_table(["rule", "k = 0"], [["bp", "38.9"], ["dfa", "–"]]) == (
        "| rule | k = 0 |\n| --- | ---: |\n| bp | 38.9 |\n| dfa | – |\n"
    )


def test_pipes_are_escaped_in_markdown():
    table = markdown_table(["a|b", "c"], [["x|y|z", "|"]])
    header, _, row = table.splitlines()
    assert header == "| a\\|b | c |"
    assert row == "| x\\|y\\|z | \\| |"
    for line in table.splitlines():
        assert len(re.findall(r"(?<!\\)\|", line)) == 3


def test_every_line_of_markdown_has_a_cell_for_each_column():
    lines = markdown_table(["a", "b", "c"], [["1", "2", "3"]] * 4).splitlines()
    assert len(lines) == 6
    assert {line.count("|") for line in lines} == {4}


def test_the_terminal_shows_every_cell():
    text = shown(["rule", "k = 0"], [["bp", "38.9 ± 0.1"], ["dfa", "34.9"]])
    for part in ("rule", "k = 0", "bp", "38.9 ± 0.1", "dfa", "34.9"):
        assert part in text


@pytest.mark.parametrize("where", ["header", "cell"])
def test_brackets_are_not_taken_for_markup(where):
    label = "dfa[normalise=batch]"
    parts = {"header": "rule", "cell": "bp"} | {where: label}
    assert label in shown([parts["header"]], [[parts["cell"]]])


def test_something_that_looks_like_a_closing_tag_is_shown():
    assert "mine[/]" in shown(["rule"], [["mine[/]"]])
