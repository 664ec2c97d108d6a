"""What is in a figure."""

from __future__ import annotations

import math
from typing import Any

from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from depthgauge.report.figures.style import styled
from depthgauge.results.study import StudyResult


def draw(module: Any, study: StudyResult) -> Figure:
    """A figure of a study."""
    assert module.missing(study) is None
    figure: Figure = module.draw(study)
    return figure


def lay_out(figure: Figure) -> Figure:
    """Puts everything in its place."""
    with styled():
        figure.draw_without_rendering()
    return figure


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def panel(figure: Figure, start: str) -> Axes:
    """The panel whose title begins like that."""
    return next(axes for axes in figure.axes if axes.get_title(loc="left").startswith(start))


def points(line: Line2D) -> list[tuple[float, float]]:
    pairs = zip(line.get_xdata(), line.get_ydata(), strict=True)  # type: ignore[arg-type]
    return [(float(x), float(f"{y:.9g}")) for x, y in pairs if not math.isnan(y)]


def lines_with(axes: Axes, *, faint: bool) -> list[list[tuple[float, float]]]:
    """The curves in full, or the faint ones of the seeds; thresholds are neither."""
    curves = [line for line in axes.lines if line.get_color() not in ("0.35", "0.4")]
    curves = [line for line in curves if line.get_marker() not in ("*", "<", ">")]
    return [points(line) for line in curves if (line.get_alpha() is not None) == faint]


def stars(axes: Axes) -> list[tuple[float, float]]:
    return [xy for line in axes.lines if line.get_marker() == "*" for xy in points(line)]


def error_bars(axes: Axes) -> dict[str, ErrorbarContainer]:
    return {str(c.get_label()): c for c in axes.containers if isinstance(c, ErrorbarContainer)}


def words(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]
