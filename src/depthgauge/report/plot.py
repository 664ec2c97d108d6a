"""A figure of a study that a notebook shows and that can be saved."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

from depthgauge.errors import UserError
from depthgauge.report.figures.all import FIGURES
from depthgauge.report.figures.style import FORMATS, file_of
from depthgauge.results.study import StudyResult
from depthgauge.store.files import write_bytes


@dataclass(frozen=True)
class Plot:
    """A figure, drawn."""

    figure: Figure

    def save(self, path: str | Path) -> Path:
        """Write the figure; the path ends in .png, .svg or .pdf."""
        file = Path(path)
        kind = file.suffix[1:].lower()
        if kind not in FORMATS:
            suffixes = ", ".join(f".{known}" for known in FORMATS)
            raise UserError(f"{file} must end in one of {suffixes}")
        write_bytes(file, file_of(self.figure, kind))
        return file

    def _repr_svg_(self) -> str:
        return file_of(self.figure, "svg").decode()


def plot_of(study: StudyResult, name: str) -> Plot:
    """Draw a figure of a study by its name."""
    if name not in FIGURES:
        raise UserError(f"there is no figure {name!r}; there are: {', '.join(FIGURES)}")
    figure = FIGURES[name]
    if (why := figure.missing(study)) is not None:
        raise UserError(f"{study.folder} {why}")
    return Plot(figure.draw(study))
