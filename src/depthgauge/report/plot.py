"""A figure of a study, to show in a notebook or to save as a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from depthgauge.errors import UserError
from depthgauge.report.charts.figures import FIGURES
from depthgauge.report.charts.panel import KINDS, Figure
from depthgauge.report.score_words import words_of
from depthgauge.results.study import StudyResult
from depthgauge.store.files import write_bytes


@dataclass(frozen=True)
class Plot:
    """A figure that a notebook displays and `save` writes.

    Attributes:
        figure: the panels with their data.
    """

    figure: Figure

    @property
    def specification(self) -> dict[str, Any]:
        """The Vega-Lite specification of the figure, with its data."""
        return self.figure.drawing

    def save(self, path: str | Path) -> Path:
        """Write the figure to a path that ends in .png, .svg or .pdf; return the path."""
        file = Path(path)
        kind = file.suffix[1:].lower()
        if kind not in KINDS:
            suffixes = ", ".join(f".{known}" for known in KINDS)
            raise UserError(f"{file} must end in one of {suffixes}")
        write_bytes(file, self.figure.file(kind))
        return file

    def _repr_svg_(self) -> str:
        return self.figure.file("svg").decode()


def plot_of(study: StudyResult, name: str) -> Plot:
    """Draw a figure of a study by its name."""
    if name not in FIGURES:
        raise UserError(f"there is no figure {name!r}; there are: {', '.join(FIGURES)}")
    figure = FIGURES[name]
    if (reason := figure.reason_missing(study)) is not None:
        raise UserError(f"{study.folder} {reason}")
    return Plot(figure.draw(study).reworded(words_of(study)))
