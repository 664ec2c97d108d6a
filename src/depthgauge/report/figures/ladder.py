"""The ladder: accuracy over k, one curve for each rule with its interval; chance, k = 0, floors."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from depthgauge.report.figures.ladder_panel import LadderPanel, panel_of
from depthgauge.report.figures.style import (
    FAINT,
    GREY,
    key_of,
    legend_below,
    panels,
    styled,
)
from depthgauge.report.palette import Look, looks
from depthgauge.results.floors import LINEAR
from depthgauge.results.ladder import Ladder, Rung
from depthgauge.results.study import StudyResult
from depthgauge.scheduling.variations import SHALLOW

APART, SPREAD = 0.06, 0.15
"""Rules stand side by side at each k, so that their intervals can be told apart."""

HIGHEST = 103
"""Per cent: an interval over two seeds may reach beyond what there is."""

SEED: dict[str, Any] = {"alpha": FAINT, "markersize": 3, "linestyle": "none"}
CHANCE: dict[str, Any] = {"color": GREY, "linestyle": (0, (1, 1.5)), "linewidth": 1.2}
FROZEN: dict[str, Any] = {"linestyle": (0, (1, 3)), "linewidth": 0.9}
TWIN: dict[str, Any] = {"markerfacecolor": "none", "markersize": 5, "linestyle": "none"}
FLOORS: dict[str, dict[str, Any]] = {
    LINEAR: {"color": GREY, "linestyle": (0, (6, 2)), "linewidth": 1.0},
    SHALLOW: {"color": GREY, "linestyle": (0, (6, 2, 1, 2)), "linewidth": 1.0},
}
LOST: dict[str, Any] = {"color": GREY, "marker": "x", "linestyle": "none", "markeredgewidth": 1.4}


def missing(study: StudyResult) -> str | None:
    """Why there is nothing to draw."""
    if panel_of(study.ladder()).curves:
        return None
    return "has no finished runs, so there is no ladder to draw; `depthgauge ladder` trains them"


def draw(study: StudyResult) -> Figure:
    """One study's ladder."""
    return draw_ladders([study.ladder()], list(study))


@styled()
def draw_ladders(several: Sequence[Ladder], labels: Sequence[str] = ()) -> Figure:
    """Draw one panel for each ladder; a rule keeps its colour and marker over all of them.

    `labels` are those of rules that come before, also where nothing of them is done yet.
    """
    ladders = [panel_of(ladder) for ladder in several]
    drawn_labels = (rule for ladder in ladders for rule in ladder.labels)
    seen = looks(list(dict.fromkeys([*labels, *drawn_labels])))
    drawn = dict.fromkeys(rule for ladder in ladders for rule in ladder.curves)
    width = 4.8 if len(ladders) == 1 else 3.8
    figure, axes_of = panels(1, len(ladders), width, 3.3, sharey=True)
    for axes, ladder in zip(axes_of, ladders, strict=True):
        _draw_panel(axes, ladder, seen)
    axes_of[0].set_ylabel("accuracy (%)")
    axes_of[0].set_ylim(0, min(HIGHEST, axes_of[0].get_ylim()[1]))
    axes_of[0].yaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10]))
    entries: list[tuple[str, Artist]] = [(rule, key_of(seen[rule])) for rule in drawn]
    if any(ladder.chance is not None for ladder in ladders):
        entries.append(("chance", Line2D([], [], **CHANCE)))
    floors = dict.fromkeys(name for ladder in ladders for name in ladder.floors)
    entries += [(name, Line2D([], [], **FLOORS[name])) for name in floors]
    if any(_has_frozen(curve) for ladder in ladders for curve in ladder.curves.values()):
        entries.append(("all blocks frozen", Line2D([], [], color=GREY, **FROZEN)))
    if any(ladder.twins for ladder in ladders):
        hollow = Line2D([], [], color=GREY, marker="o", **TWIN)
        entries.append(("added block on noise", hollow))
    if any(s.lost for ladder in ladders for c in ladder.curves.values() for s in c.values()):
        entries.append(("diverged or failed", Line2D([], [], **LOST)))
    legend_below(figure, entries)
    return figure


def _draw_panel(axes: Axes, ladder: LadderPanel, seen: dict[str, Look]) -> None:
    apart = min(APART, 2 * SPREAD / max(1, len(ladder.curves)))
    for place, (rule, steps) in enumerate(ladder.curves.items()):
        beside = apart * (place - (len(ladder.curves) - 1) / 2)
        _draw_curve(axes, rule, steps, seen[rule], beside)
        _draw_twins(axes, ladder.twins.get(rule, {}), seen[rule], beside)
    if ladder.chance is not None:
        axes.axhline(100 * ladder.chance, label="chance", **CHANCE)
    for name, accuracy in ladder.floors.items():
        axes.axhline(100 * accuracy, label=name, **FLOORS[name])
    axes.set_xlim(-0.3, ladder.blocks + 0.3)
    axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    axes.grid(visible=False, axis="x")
    axes.set_xlabel(f"k: trained blocks, counted from the last of {ladder.blocks}")
    axes.set_title(ladder.title, weight="bold")


def _draw_curve(axes: Axes, rule: str, steps: dict[int, Rung], look: Look, beside: float) -> None:
    """Each seed as a faint dot, the mean with its interval; what was lost at the bottom."""
    known = {k: step for k, step in steps.items() if step.accuracies}
    means = [100 * statistics.fmean(step.accuracies.values()) for step in known.values()]
    axes.errorbar(
        [k + beside for k in known],
        means,
        yerr=[100 * _half_width(step) for step in known.values()],
        color=look.light,
        marker=look.marker,
        linestyle=look.line,
        capsize=3,
        elinewidth=1,
        label=rule,
    )
    if _has_frozen(steps):
        axes.axhline(means[0], color=look.light, label=f"{rule}, frozen", **FROZEN)
    dots = [
        (k + beside, 100 * value)
        for k, s in known.items()
        if s.interval
        for value in s.accuracies.values()
    ]
    axes.plot([k for k, _ in dots], [y for _, y in dots], "o", color=look.light, **SEED)
    lost = [k + beside for k, step in steps.items() if step.lost]
    if lost:  # what is not clipped has a place in the layout even where it is empty
        axes.plot(lost, [0] * len(lost), **LOST | {"color": look.light}, clip_on=False, zorder=3)


def _draw_twins(axes: Axes, twins: dict[int, Rung], look: Look, beside: float) -> None:
    """Draw the mean of each swap twin as a hollow sign."""
    means = [100 * statistics.fmean(twin.accuracies.values()) for twin in twins.values()]
    axes.plot([k + beside for k in twins], means, look.marker, color=look.light, **TWIN)


def _has_frozen(steps: dict[int, Rung]) -> bool:
    """Whether there is a frozen rung to compare others with."""
    known = [k for k, step in steps.items() if step.accuracies.values()]
    return 0 in known and len(known) > 1


def _half_width(step: Rung) -> float:
    return (step.ends[1] - step.ends[0]) / 2 if step.ends else 0.0
