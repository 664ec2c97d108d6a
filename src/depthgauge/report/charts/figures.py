"""All charts by name: `depthgauge plot`, `study.plot` and the page draw them from here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from depthgauge.report.charts import audit, ladder, layers, null, training
from depthgauge.report.charts.panel import Figure
from depthgauge.results.study import StudyResult


@dataclass(frozen=True)
class FigureOfStudy:
    """A figure of a study.

    Attributes:
        draw: draws it.
        reason_missing: what follows the study's name in a sentence on why it cannot be drawn; None
            where it can.
    """

    draw: Callable[[StudyResult], Figure]
    reason_missing: Callable[[StudyResult], str | None]


FIGURES: dict[str, FigureOfStudy] = {
    "ladder": FigureOfStudy(ladder.draw, ladder.reason_missing),
    "audit": FigureOfStudy(audit.draw, audit.reason_missing),
    "layers": FigureOfStudy(layers.draw, layers.reason_missing),
    "training": FigureOfStudy(training.draw, training.reason_missing),
    "null": FigureOfStudy(null.draw, null.reason_missing),
}


def figures_of(study: StudyResult) -> dict[str, Figure]:
    """Return every figure that the study has data for, by name."""
    return {
        name: figure.draw(study)
        for name, figure in FIGURES.items()
        if figure.reason_missing(study) is None
    }
