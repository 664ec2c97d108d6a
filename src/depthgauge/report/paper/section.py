"""A section of the reporting template: labelled statements, then tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from depthgauge.number_format import MISSING
from depthgauge.report.tables.table import Table
from depthgauge.report.writers.latex_table import latex_table
from depthgauge.report.writers.latex_text import latex_text
from depthgauge.report.writers.markdown_table import markdown_table
from depthgauge.report.writers.markdown_text import markdown_text
from depthgauge.report.writers.plain_text import plain_text

AVOIDED, APPLIES, NOT_MEASURED = "✓", "✗", "–"


@dataclass(frozen=True)
class Item:
    """A labelled statement; for a pitfall, `mark` says whether the study avoids it."""

    label: str
    text: str
    mark: str = ""


@dataclass(frozen=True)
class Section:
    """A title, statements, then tables; tables without rows are left out."""

    title: str
    items: tuple[Item, ...]
    tables: tuple[Table, ...] = ()

    def reworded(self, reword: Callable[[str], str]) -> Section:
        """Return the section with `reword` applied to its statements and tables."""
        items = (replace(item, text=reword(item.text)) for item in self.items)
        tables = (table.reworded(reword) for table in self.tables)
        return replace(self, items=tuple(items), tables=tuple(tables))

    def to_markdown(self) -> str:
        """Return the section as Markdown: a heading, a list and tables."""
        parts = [f"### {markdown_text(self.title)}\n"]
        if self.items:
            parts.append("".join(map(_markdown_item, self.items)))
        parts += [markdown_table(table, caption=True) for table in self.tables if table.rows]
        return "\n".join(parts)

    def to_latex(self, study: str) -> str:
        """Return the section as a LaTeX subsection; labels of tables contain the study's name."""
        parts = [f"\\subsection*{{{latex_text(self.title)}}}\n"]
        if self.items:
            lines = "".join(map(_latex_item, self.items))
            parts.append(f"\\begin{{description}}\\sloppy\n{lines}\\end{{description}}\n")
        parts += [latex_table(table, study) for table in self.tables if table.rows]
        return "\n".join(parts)


def _markdown_item(item: Item) -> str:
    mark = f"{item.mark} " if item.mark else ""
    return f"- {mark}**{markdown_text(_known(item.label))}**: {markdown_text(_known(item.text))}\n"


def _latex_item(item: Item) -> str:
    label = latex_text(" ".join([item.mark, _known(item.label)]).strip())
    return f"  \\item[{{{label}}}] {latex_text(_known(item.text))}\n"


def _known(text: str) -> str:
    return plain_text(text) or MISSING
