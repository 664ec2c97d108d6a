"""Null calibration: the alignments that fresh feedback has, and the training feedback's own."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from depthgauge.report.figures.style import GREY, legend_below, panels, styled, title
from depthgauge.report.figures.text import plain, study_title, width_of
from depthgauge.report.palette import Look, looks
from depthgauge.results.network import NetworkResult
from depthgauge.results.rule import RuleResult
from depthgauge.results.study import StudyResult

WIDEST = 12
"""Inches."""

BARS, FINEST = 24, 80
"""Bars over the draws, and how many the whole axis may have at most."""

HEIGHT = 0.85
"""Of the highest bar, where the rows of the seeds are 1 apart."""

LEAST_WIDTH = 1e-4


@dataclass(frozen=True)
class _Null:
    """One network: `draws` with fresh feedback, `observed` with that of the training."""

    seed: int
    draws: list[float]
    observed: float | None
    word: str


def missing(study: StudyResult) -> str | None:
    """Why there is nothing to draw."""
    if _nulls(study.rules.values()):
        return None
    if study.audit is None:
        return "has no audit, so there is no null calibration to draw; `depthgauge audit` makes one"
    return "has an audit without null calibration: none of its rules has feedback to draw afresh"


@styled()
def draw(study: StudyResult) -> Figure:
    """One panel for each rule that has a null, with a row for each seed."""
    seen, nulls = looks([view.label for view in study.rules.values()]), _nulls(study.rules.values())
    width = max(2.9, 1 + max(width_of(plain(rule), 10) for rule in nulls))
    columns = min(math.ceil(math.sqrt(len(nulls))), math.floor(WIDEST / width))
    rows = math.ceil(len(nulls) / columns)
    seeds = max(map(len, nulls.values()))
    figure, axes_of = panels(
        rows, columns, width if columns > 1 else max(width, 4.6), 1.4 + max(0.8, 0.4 * seeds)
    )
    for axes, (rule, of_rule) in zip(axes_of, nulls.items(), strict=False):
        _draw_panel(axes, rule, of_rule, seen[rule])
    for axes in axes_of[len(nulls) :]:
        axes.remove()
    entries: list[tuple[str, Artist]] = [
        ("fresh feedback", Patch(color=GREY, alpha=0.4, lw=0)),
        ("training feedback", Line2D([], [], color=GREY, lw=2)),
    ]
    legend_below(figure, entries)
    title(figure, study_title(study.config))
    return figure


def _nulls(views: Collection[RuleResult]) -> dict[str, list[_Null]]:
    found = {view.label: [n for n in map(_null, view.networks) if n] for view in views}
    return {rule: nulls for rule, nulls in found.items() if nulls}


def _null(network: NetworkResult) -> _Null | None:
    null = network.report.null if network.report else None
    draws = [draw for draw in null.fresh_deep if math.isfinite(draw)] if null else []
    if null is None or not draws:
        return None
    return _Null(network.seed, draws, null.deep.observed, null.deep.word)


def _draw_panel(axes: Axes, rule: str, nulls: Sequence[_Null], look: Look) -> None:
    """The first seed on top; bars have the same width in all rows."""
    edges = _edges(nulls)
    for row, null in enumerate(reversed(nulls)):
        counts, _ = np.histogram(null.draws, edges)
        heights = HEIGHT * counts / counts.max()
        axes.stairs(row + heights, edges, baseline=row, fill=True, color=look.light, alpha=0.4)
        axes.axhline(row, color=look.light, linewidth=0.6)
        if null.observed is not None:
            axes.plot([null.observed] * 2, [row, row + 0.95], color=look.light, linewidth=2)
    axes.set_ylim(0, len(nulls))
    axes.set_yticks(
        [row + 0.4 for row in range(len(nulls))], [f"seed {null.seed}" for null in reversed(nulls)]
    )
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.locator_params(axis="x", nbins=5)
    axes.set_xlabel(f"Γ over the blocks ({len(nulls[0].draws)} draws)")
    axes.set_title(f"{plain(rule)}\n{_words(nulls)}")


def _edges(nulls: Sequence[_Null]) -> NDArray[np.float64]:
    """Of the bars: they span the draws, and none is too narrow to be seen."""
    draws = [value for null in nulls for value in null.draws]
    seen = [*draws, *(null.observed for null in nulls if null.observed is not None)]
    low, high = min(draws), max(draws)
    least = max(LEAST_WIDTH, (max(seen) - min(seen)) / FINEST)
    bars = max(1, min(BARS, math.floor((high - low) / least)))
    width = max((high - low) / bars, least)
    return np.asarray([(low + high) / 2 + width * (n - bars / 2) for n in range(bars + 1)])


def _words(nulls: Sequence[_Null]) -> str:
    """The reading, or how many seeds have which."""
    words = Counter(null.word for null in nulls)
    if len(words) == 1:
        return nulls[0].word
    return ", ".join(f"{count} {word}" for word, count in words.most_common())
