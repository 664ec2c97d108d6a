"""A part of the reporting template: labelled statements, and tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from depthgauge.number_format import MISSING
from depthgauge.report.paper.cells import plain_text
from depthgauge.report.paper.latex import latex_text
from depthgauge.report.paper.markdown import markdown_text
from depthgauge.report.paper.paper_table import PaperTable

AVOIDED, APPLIES, NOT_MEASURED = "✓", "✗", "–"


@dataclass(frozen=True)
class Item:
    """A statement; `mark` is how it stands in a checklist of traps."""

    label: str
    text: str
    mark: str = ""


@dataclass(frozen=True)
class Section:
    """Statements first, then tables; those without rows are left out."""

    title: str
    items: tuple[Item, ...]
    tables: tuple[PaperTable, ...] = ()

    def to_markdown(self) -> str:
        """A heading, a list, tables."""
        parts = [f"### {markdown_text(self.title)}\n"]
        if self.items:
            parts.append("".join(map(_markdown_item, self.items)))
        parts += [table.to_markdown() for table in self._tables()]
        return "\n".join(parts)

    def to_latex(self) -> str:
        """A subsection, a `description`, tables."""
        parts = [f"\\subsection*{{{latex_text(self.title)}}}\n"]
        if self.items:
            lines = "".join(map(_latex_item, self.items))
            parts.append(f"\\begin{{description}}\\sloppy\n{lines}\\end{{description}}\n")
        parts += [table.to_latex() for table in self._tables()]
        return "\n".join(parts)

    def _tables(self) -> Iterator[PaperTable]:
        return (table for table in self.tables if table.rows)


def _markdown_item(item: Item) -> str:
    mark = f"{item.mark} " if item.mark else ""
    return f"- {mark}**{markdown_text(_known(item.label))}**: {markdown_text(_known(item.text))}\n"


def _latex_item(item: Item) -> str:
    label = latex_text(" ".join([item.mark, _known(item.label)]).strip())
    return f"  \\item[{{{label}}}] {latex_text(_known(item.text))}\n"


def _known(text: str) -> str:
    return plain_text(text) or MISSING
