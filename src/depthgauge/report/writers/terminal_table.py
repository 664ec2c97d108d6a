"""Tables in a terminal; a verdict has a colour, and a ✓ or ✗ for readers who see no colours."""

from __future__ import annotations

from rich import box
from rich.table import Table as RichTable
from rich.text import Text

from depthgauge.report.tables.table import Column, Table
from depthgauge.report.texts.verdict_words import MEANINGS


def terminal_table(table: Table, *, signs: bool = True) -> RichTable:
    """Return a table for a terminal; brackets in cells are text, not markup.

    In a narrow terminal the widest columns are folded, and nothing is cut. Without `signs`,
    verdicts have no ✓ or ✗, which some terminals cannot show.
    """
    shown = RichTable(box=box.SIMPLE_HEAD)
    for column in table.columns:
        shown.add_column(
            Text(column.title), justify="right" if column.is_number else "left", overflow="fold"
        )
    for row in table.rows:
        cells = zip(table.columns, row, strict=True)
        shown.add_row(*(_cell(column, cell.text, signs) for column, cell in cells))
    return shown


def _cell(column: Column, text: str, signs: bool) -> Text:
    return verdict_text(text, signs=signs) if column.kind == "verdict" else Text(text)


def verdict_text(words: str, *, signs: bool) -> Text:
    """Return a verdict with its ✓ or ✗; the word is coloured, the evidence after it is not."""
    for word, meaning in MEANINGS.items():
        if meaning.colour and words.startswith(word):
            shown = f"{meaning.sign} {word}" if signs else word
            return Text.assemble((shown, f"bold {meaning.colour}"), words.removeprefix(word))
    return Text(words)
