"""All figures by name: for the command line, and for the page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from matplotlib.figure import Figure

from depthgauge.report.figures import audit, ladder, layers, null, training
from depthgauge.results.study import StudyResult

Draw = Callable[[StudyResult], Figure]
Missing = Callable[[StudyResult], str | None]


@dataclass(frozen=True)
class FigureOfStudy:
    """A figure.

    Attributes:
        draw: draws it.
        missing: what follows the study's name in a sentence on why it cannot be drawn, else None.
    """

    draw: Draw
    missing: Missing


FIGURES: dict[str, FigureOfStudy] = {
    "ladder": FigureOfStudy(ladder.draw, ladder.missing),
    "audit": FigureOfStudy(audit.draw, audit.missing),
    "layers": FigureOfStudy(layers.draw, layers.missing),
    "training": FigureOfStudy(training.draw, training.missing),
    "null": FigureOfStudy(null.draw, null.missing),
}


def figures_of(study: StudyResult) -> dict[str, Figure]:
    """Every figure that the study has data for, by name."""
    return {
        name: figure.draw(study)
        for name, figure in FIGURES.items()
        if figure.missing(study) is None
    }
