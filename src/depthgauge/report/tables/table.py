"""A table of plain text, which writers turn into terminal output, HTML, Markdown or LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

Kind = Literal["words", "number", "verdict"]


@dataclass(frozen=True)
class Column:
    """A column, with the kind of its cells.

    Words are aligned left, numbers right. A verdict gets a colour and a ✓ or ✗ where the output
    can show them.
    """

    title: str
    kind: Kind = "words"

    @property
    def is_number(self) -> bool:
        """Return whether the cells are numbers, or dashes for missing numbers."""
        return self.kind == "number"


@dataclass(frozen=True)
class Cell:
    """A cell as plain text; the writer escapes the text.

    Attributes:
        text: the text.
        run: the id of the run that the number comes from.
        runs: the filter that finds the runs behind the number, such as `{"rule": "bp", "k": "4"}`.
        order: the value to sort by, if the text would sort wrongly.
    """

    text: str
    run: str | None = None
    runs: Mapping[str, str] | None = None
    order: float | str | None = None


@dataclass(frozen=True)
class Table:
    """Columns and rows, with a name and a caption.

    Attributes:
        name: the name for labels in LaTeX, such as `verdicts`.
        caption: what the table shows, and by which conventions.
        columns: the columns; each row has a cell for each column.
        rows: the cells, row by row.
    """

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @property
    def titles(self) -> list[str]:
        """Return the titles of the columns."""
        return [column.title for column in self.columns]

    @property
    def texts(self) -> list[list[str]]:
        """Return the texts of the cells, row by row."""
        return [[cell.text for cell in row] for row in self.rows]

    def only(self, *titles: str) -> Table:
        """Return the table with only the columns of these titles, in the order of the titles."""
        places = [self.titles.index(title) for title in titles]
        return replace(
            self,
            columns=tuple(self.columns[place] for place in places),
            rows=tuple(tuple(row[place] for place in places) for row in self.rows),
        )

    def without(self, *titles: str) -> Table:
        """Return the table without the columns of these titles."""
        return self.only(*(title for title in self.titles if title not in titles))

    def reworded(self, reword: Callable[[str], str]) -> Table:
        """Return the table with `reword` applied to its caption, titles and the words of cells."""
        columns = (replace(column, title=reword(column.title)) for column in self.columns)
        rows = (
            tuple(
                replace(cell, text=reword(cell.text)) if cell.runs is None else cell for cell in row
            )
            for row in self.rows
        )
        return replace(self, caption=reword(self.caption), columns=tuple(columns), rows=tuple(rows))

    def called(self, name: str, caption: str = "") -> Table:
        """Return the table with another name, and another caption if one is given."""
        return replace(self, name=name, caption=caption or self.caption)


def make_table(
    name: str,
    caption: str,
    columns: Iterable[Column],
    rows: Iterable[Sequence[Cell | str]],
) -> Table:
    """Return a table; a plain text becomes a cell without a link."""
    made = tuple(
        tuple(cell if isinstance(cell, Cell) else Cell(cell) for cell in row) for row in rows
    )
    return Table(name, caption, tuple(columns), made)


def words(*titles: str) -> list[Column]:
    """Return columns of words."""
    return [Column(title) for title in titles]


def numbers(*titles: str) -> list[Column]:
    """Return columns of numbers."""
    return [Column(title, "number") for title in titles]
