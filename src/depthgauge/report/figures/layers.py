"""Inside the network: norms of stream and gradient by layer, Γ with its null band, and ρ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from depthgauge.report.figures.by_layer import SPREADS, ByLayer, by_layer
from depthgauge.report.figures.log_axis import log_axis
from depthgauge.report.figures.over_seeds import Series, draw_curve, mean_over_seeds, shown
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
from depthgauge.results.study import StudyResult

BAND = 0.15


@dataclass(frozen=True)
class _Panel:
    part: str
    title: str
    label: str
    log: bool

    def series(self, networks: Sequence[ByLayer]) -> list[Series]:
        drawn = [shown(getattr(network, self.part), log=self.log) for network in networks]
        return [seed for seed in drawn if seed]


PANELS = (
    _Panel("stream", "stream", r"$\Vert h_l\Vert$", True),
    _Panel("gradient", "gradient of a sample", r"$\Vert g_l\Vert$", True),
    _Panel("alignment", "Γ: credit against gradient", "Γ", False),
    _Panel("perturbation", "ρ: change of loss predicted", "ρ", False),
)


def missing(study: StudyResult) -> str | None:
    """Why there is nothing to draw."""
    if _panels(_networks(study)):
        return None
    return "has no finished run with all blocks trained, so there are no layers to draw"


@styled()
def draw(study: StudyResult) -> Figure:
    """Two panels, or four where there is an audit."""
    seen, networks = looks([view.label for view in study.rules.values()]), _networks(study)
    drawn = _panels(networks)
    columns = min(2, len(drawn))
    figure, axes_of = panels(-(-len(drawn) // columns), columns, 3.0, 2.3)
    for axes, panel in zip(axes_of, drawn, strict=False):
        _draw_panel(axes, panel, networks, seen)
    for axes in axes_of[len(drawn) :]:
        axes.remove()
    entries: list[tuple[str, Artist]] = [
        (with_lost(view.label, sum(n.diverged for n in view.networks)), key_of(seen[view.label]))
        for view in study.rules.values()
        if view.networks
    ]
    if any(network.null_low for rule in networks.values() for network in rule):
        band = Patch(color=GREY, alpha=2 * BAND, lw=0)
        entries.append((f"fresh feedback, ± {SPREADS} spreads", band))
    legend_below(figure, entries)
    title(figure, study_title(study.config))
    return figure


def _networks(study: StudyResult) -> dict[str, list[ByLayer]]:
    return {
        view.label: by_layer(study, view.networks) for view in study.rules.values() if view.networks
    }


def _panels(networks: dict[str, list[ByLayer]]) -> list[_Panel]:
    return [p for p in PANELS if any(p.series(of_rule) for of_rule in networks.values())]


def _draw_panel(
    axes: Axes, panel: _Panel, networks: dict[str, list[ByLayer]], seen: dict[str, Look]
) -> None:
    values: list[float] = []
    for rule, of_rule in networks.items():
        seeds = panel.series(of_rule)
        values += [value for seed in seeds for value in seed.values()]
        if panel.part == "alignment":
            _draw_band(axes, of_rule, seen[rule])
        draw_curve(axes, seen[rule], seeds, log=panel.log)
    axes.set(title=panel.title, ylabel=panel.label)
    axes.xaxis.set_major_locator(MaxNLocator(9, integer=True))
    if panel.log:
        log_axis(axes, "y", values)
        axes.set_xlabel("layer $l$")
    else:
        axes.axhline(0, color=GREY, linewidth=0.8, zorder=1)
        axes.xaxis.set_major_formatter(
            FuncFormatter(lambda place, _: f"{place - 1:.0f}" if place else "embed")
        )
        axes.set_xlabel("credit of block")


def _draw_band(axes: Axes, networks: Sequence[ByLayer], look: Look) -> None:
    """Where Γ of fresh feedback lies; both edges are means over the seeds."""
    low, high = (
        mean_over_seeds([shown(edge, log=False) for edge in edges], log=False)
        for edges in zip(*((n.null_low, n.null_high) for n in networks), strict=True)
    )
    axes.fill_between(
        list(low), list(low.values()), list(high.values()), color=look.light, alpha=BAND, lw=0
    )
