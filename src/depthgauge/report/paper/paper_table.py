"""A table of a paper."""

from __future__ import annotations

from dataclasses import dataclass

from depthgauge.report.paper.latex import PACKAGES, latex_table
from depthgauge.report.paper.markdown import markdown_table, markdown_text

ROWS_ON_A_PAGE = 40


@dataclass(frozen=True)
class PaperTable:
    """Header and rows as plain text; what they are written as escapes them.

    Attributes:
        name: which table it is, such as `verdicts`.
        study: of which study; with the name it makes the label in LaTeX.
        caption: what it shows, and by what conventions.
    """

    name: str
    study: str
    caption: str
    header: list[str]
    rows: list[list[str]]

    def to_markdown(self) -> str:
        """Caption and table."""
        return f"{markdown_text(self.caption)}\n\n{markdown_table(self.header, self.rows)}"

    def to_latex(self) -> str:
        """A `table` environment; where the rows are more than a page holds, several."""
        starts = range(0, len(self.rows), ROWS_ON_A_PAGE)
        parts = [self.rows[start : start + ROWS_ON_A_PAGE] for start in starts]
        label = f"tab:{self.study}-{self.name}"
        if len(parts) <= 1:
            return PACKAGES + latex_table(self.header, self.rows, self.caption, label)
        return PACKAGES + "\n".join(
            latex_table(
                self.header, part, f"{self.caption} Part {n} of {len(parts)}.", f"{label}-{n}"
            )
            for n, part in enumerate(parts, start=1)
        )
