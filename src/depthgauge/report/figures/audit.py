"""The audit: each rule's readings beside their thresholds, seeds as dots, intervals as bars."""

from __future__ import annotations

import math

from matplotlib.figure import Figure

from depthgauge.report.figures.diagnostic_axis import axes_to_draw
from depthgauge.report.figures.reading_panel import draw_reading
from depthgauge.report.figures.style import panels, styled, title
from depthgauge.report.figures.text import plain, study_title, width_of
from depthgauge.report.palette import looks
from depthgauge.results.study import StudyResult

FEW = 8
SHORT = 1.2
"""Panels stand side by side with few rules and short labels (inches), else two by two."""


def missing(study: StudyResult) -> str | None:
    """Why there is nothing to draw."""
    if any(view.networks for view in study.rules.values()):
        return None
    return (
        "has no finished run with all blocks trained, so there are no readings to draw; "
        "`depthgauge audit` makes them"
    )


@styled()
def draw(study: StudyResult) -> Figure:
    """One panel for each reading."""
    seen = looks([view.label for view in study.rules.values()])
    rows = [view for view in study.rules.values() if view.networks]
    readings = axes_to_draw(rows, study.thresholds)
    label = max(width_of(plain(view.label)) for view in rows)
    columns = len(readings) if len(rows) <= FEW and label <= SHORT else 2
    height = 1.1 + 0.22 * max(3, len(rows))
    figure, axes_of = panels(math.ceil(len(readings) / columns), columns, 2.2 + label, height)
    for axes, reading in zip(axes_of, readings, strict=False):
        draw_reading(axes, reading, rows, seen)
    for axes in axes_of[len(readings) :]:
        axes.remove()
    title(figure, study_title(study.config))
    return figure
