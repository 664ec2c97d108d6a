"""All charts by name, for `depthgauge plot` and `study.plot`."""

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
        draw: draws the figure.
        reason_missing: says why the figure cannot be drawn, in words that follow the study's name;
            None if it can be drawn.
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
