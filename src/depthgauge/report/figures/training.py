"""Over training: accuracy and what diagnostics read by epoch; where each first fires."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from depthgauge.diagnostics.contract import Quantity, Side
from depthgauge.diagnostics.registry import diagnostics
from depthgauge.report.figures.log_axis import log_axis
from depthgauge.report.figures.over_seeds import Series, draw_curve, shown
from depthgauge.report.figures.style import (
    GREY,
    key_of,
    legend_below,
    panels,
    styled,
    title,
    with_lost,
)
from depthgauge.report.figures.text import study_title
from depthgauge.report.palette import Look, looks
from depthgauge.results.run import RunResult
from depthgauge.results.study import StudyResult
from depthgauge.verdict.first_fired import readings_from_metrics
from depthgauge.verdict.thresholds import Thresholds

FIRED: dict[str, Any] = {
    "marker": "*",
    "markersize": 9,
    "markeredgecolor": "black",
    "markeredgewidth": 0.8,
}
THRESHOLD: dict[str, Any] = {"color": GREY, "linestyle": "--", "linewidth": 1}


@dataclass(frozen=True)
class _Panel:
    """`by_epoch` reads a run; `diagnostic` fires on this reading, on the bad side of `limit`."""

    title: str
    label: str
    by_epoch: Callable[[RunResult], dict[int, float | None]]
    diagnostic: str = ""
    limit: float | None = None
    bad: Side = "above"
    log: bool = False


def missing(study: StudyResult) -> str | None:
    """Why there is nothing to draw."""
    if _runs(study):
        return None
    return "has no record of a run with all blocks trained, so there is no training to draw"


@styled()
def draw(study: StudyResult) -> Figure:
    """Panels over one axis; runs that are not finished are drawn as far as they are."""
    seen, runs = looks([view.label for view in study.rules.values()]), _runs(study)
    drawn = [_accuracy(), *_diagnostic_panels(study.thresholds, runs)]
    figure, axes_of = panels(len(drawn), 1, 4.8, 2.0, sharex=True)
    fired = [
        _draw_panel(axes, panel, runs, seen, study.thresholds)
        for axes, panel in zip(axes_of, drawn, strict=True)
    ]
    axes_of[-1].set_xlabel("epoch")
    entries: list[tuple[str, Artist]] = [
        (with_lost(rule, sum(run.state == "diverged" for run in of_rule)), key_of(seen[rule]))
        for rule, of_rule in runs.items()
    ]
    entries.append(("threshold", Line2D([], [], **THRESHOLD)))
    if any(fired):
        entries.append(("first fires, seed by seed", Line2D([], [], color="white", lw=0, **FIRED)))
    legend_below(figure, entries)
    title(figure, study_title(study.config))
    return figure


def _runs(study: StudyResult) -> dict[str, list[RunResult]]:
    """Those with all blocks trained that have a record, by their rule."""
    recorded = [run for run in study.runs if run.is_full and run.epochs]
    by_rule = {
        v.label: [run for run in recorded if run.label == v.label] for v in study.rules.values()
    }
    return {rule: runs for rule, runs in by_rule.items() if runs}


def _accuracy() -> _Panel:
    return _Panel(
        "accuracy",
        "%",
        lambda run: {line["epoch"]: _times(100, line["accuracy"]) for line in run.epochs},
    )


def _diagnostic_panels(used: Thresholds, runs: dict[str, list[RunResult]]) -> list[_Panel]:
    """One for each diagnostic whose chart shows what these runs have recorded."""
    panels = [
        _Panel(
            f"{one.id}: {one.chart.axis}",
            quantity.label,
            partial(_by_epoch, quantity),
            one.id,
            quantity.factor * used[one.chart.threshold.name],
            one.chart.threshold.fires,
            quantity.log,
        )
        for one in diagnostics()
        if one.chart is not None and (quantity := one.chart.quantity).from_epoch is not None
    ]
    every = [run for of_rule in runs.values() for run in of_rule]
    return [
        panel
        for panel in panels
        if any(value is not None for run in every for value in panel.by_epoch(run).values())
    ]


def _by_epoch(quantity: Quantity, run: RunResult) -> dict[int, float | None]:
    return {
        read.epoch: _times(quantity.factor, read.values.get(quantity.name))
        for read in readings_from_metrics(run.epochs)
    }


def _times(factor: float, value: float | None) -> float | None:
    return None if value is None else factor * value


def _draw_panel(
    axes: Axes,
    panel: _Panel,
    runs: dict[str, list[RunResult]],
    seen: dict[str, Look],
    thresholds: Thresholds,
) -> bool:
    """Returns whether its diagnostic fired anywhere."""
    drawn = {
        rule: [shown(panel.by_epoch(run), log=panel.log) for run in of_rule]
        for rule, of_rule in runs.items()
    }
    for rule, seeds in drawn.items():
        draw_curve(axes, seen[rule], seeds, log=panel.log)
    axes.set(title=panel.title, ylabel=panel.label)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    if panel.limit is None:
        axes.set_ylim(bottom=0)
        return False
    values = [value for seeds in drawn.values() for seed in seeds for value in seed.values()]
    if panel.log:
        log_axis(axes, "y", [*values, panel.limit])
    axes.axhline(panel.limit, **THRESHOLD)
    fired = [
        _draw_fired(axes, panel, run.first_fired(thresholds), seed, seen[rule])
        for rule, of_rule in runs.items()
        for run, seed in zip(of_rule, drawn[rule], strict=True)
    ]
    return any(fired)


def _draw_fired(
    axes: Axes, panel: _Panel, first: dict[str, int | None], seed: Series, look: Look
) -> bool:
    """A star on the seed's own curve; at the edge where its reading has no place on the axis."""
    epoch = first.get(panel.diagnostic)
    if epoch is None:
        return False
    edge = 0.95 if panel.bad == "above" else 0.05
    place: dict[str, Any] = {} if epoch in seed else {"transform": axes.get_xaxis_transform()}
    axes.plot([epoch], [seed.get(epoch, edge)], color=look.light, zorder=4, lw=0, **FIRED, **place)
    return True
