"""The ladder: accuracy over the number of trained blocks, with twins, floors and chance.

A rule's curve shows the mean over seeds with its 95 % interval; a faint dot is one seed. A hollow
point is a swap twin of a rung: it trains the same blocks as the rung, but the block that the rung
adds gets noise as its credit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import altair as alt

from depthgauge.report.charts.axes import Span
from depthgauge.report.charts.colours import PAPER, SOFT
from depthgauge.report.charts.labels import study_title
from depthgauge.report.charts.ladder_data import (
    ROOM,
    LadderData,
    curves_of,
    has_names,
    ladder_data,
)
from depthgauge.report.charts.panel import SAYS, Figure, Panel, layer_of
from depthgauge.report.charts.rule_styles import RuleScales
from depthgauge.results.ladder import Ladder
from depthgauge.results.study import StudyResult

TITLE = "Accuracy over the number of trained blocks"

SIGNS = {
    "frozen": "dotted: all blocks frozen",
    "twins": "hollow: added block on noise",
    "lost": "✕: diverged or failed",
}
"""The meaning of signs, by the rows that they draw."""

BAR, CAP = 1.4, 8
"""Width of an interval's line and length of its ends, in pixels."""


def reason_missing(study: StudyResult) -> str | None:
    """Say why the study has no ladder to draw; None if it has one."""
    if curves_of(study.ladder()):
        return None
    return "has no finished runs, so there is no ladder to draw; `depthgauge ladder` trains them"


def draw(study: StudyResult) -> Figure:
    """Draw the ladder of a study."""
    return draw_ladders([study.ladder()], list(study))


def draw_ladders(ladders: Sequence[Ladder], labels: Sequence[str] = ()) -> Figure:
    """Draw a panel for each ladder; all panels have the same axis and the same style for a rule.

    The rules in `labels` get the first styles, even if they have no finished runs yet.
    """
    every = [*labels, *(label for ladder in ladders for label in ladder.rules)]
    unnamed = [label for ladder in ladders if not has_names(ladder) for label in ladder.rules]
    scales = RuleScales(every, unnamed)
    top = max((ladder_data(ladder).top for ladder in ladders), default=0.0)
    panels = [
        panel(ladder, scales, f"ladder-chart-{n}", study_title(ladder.config), top)
        for n, ladder in enumerate(ladders)
    ]
    return Figure(panels, columns=len(panels))


def panel(
    ladder: Ladder,
    scales: RuleScales,
    id: str = "ladder-chart",
    title: str = TITLE,
    least_top: float = 0.0,
) -> Panel:
    """Return the panel of a ladder."""
    data = ladder_data(ladder, least_top)
    drawing = _Drawing(data, scales)
    rows = {name: getattr(data, name) for name, _ in LAYERS}
    return Panel(
        id=id,
        title=title,
        description=f"{TITLE}, one curve for each rule",
        layers=[draw_layer(drawing) for name, draw_layer in LAYERS if rows[name]],
        rows={name: some for name, some in rows.items() if some},
        height=320,
        width=420,
        note=" · ".join(words for name, words in SIGNS.items() if getattr(data, name)),
    )


@dataclass(frozen=True)
class _Drawing:
    """The axes and styles that all layers share."""

    data: LadderData
    scales: RuleScales

    @property
    def x(self) -> alt.X:
        blocks = self.data.blocks
        return alt.X(
            "place:Q",
            scale=alt.Scale(domain=[-ROOM, blocks + ROOM], nice=False, zero=False),
            axis=alt.Axis(
                title=[f"k: trained blocks of {blocks},", "counted from the last"],
                values=list(range(0, blocks + 1, math.ceil((blocks + 1) / 12))),
                format="d",
                grid=False,
            ),
        )

    def y(self, name: str = "accuracy") -> alt.Y:
        span = Span(0.0, self.data.top)
        return alt.Y(f"{name}:Q", scale=span.scale, axis=span.axis("accuracy, %"))


def _floors(drawing: _Drawing) -> alt.Chart:
    return layer_of("floors", "rule", color=SOFT, strokeDash=[6, 3]).encode(
        y=drawing.y(), tooltip=SAYS
    )


def _frozen(drawing: _Drawing) -> alt.Chart:
    return layer_of("frozen", "rule", by=["rule"], strokeDash=[1, 3]).encode(
        y=drawing.y(), color=drawing.scales.colour
    )


def _floor_names(drawing: _Drawing) -> alt.Chart:
    return layer_of("floor_names", "text", align="left", dx=6, color=SOFT).encode(
        x=drawing.x, y=drawing.y(), text="name:N"
    )


def _seed_points(drawing: _Drawing) -> alt.Chart:
    return layer_of(
        "seeds",
        "point",
        by=["rule"],
        filled=True,
        size=22,
        opacity=1,
        fillOpacity=0.4,
        shape="circle",
        cursor="pointer",
    ).encode(
        x=drawing.x,
        y=drawing.y(),
        color=drawing.scales.colour,
        tooltip=SAYS,
    )


def _intervals(drawing: _Drawing) -> alt.Chart:
    return (
        layer_of("means", "errorbar", by=["rule"], ticks={"size": CAP}, thickness=BAR)
        .transform_filter("datum.low !== null")
        .encode(
            x=drawing.x,
            y=drawing.y("low"),
            y2="high:Q",
            color=drawing.scales.colour,
        )
    )


def _curves(drawing: _Drawing) -> alt.Chart:
    return layer_of("means", "line", by=["rule"], strokeWidth=2.2).encode(
        x=drawing.x, y=drawing.y(), color=drawing.scales.colour, strokeDash=drawing.scales.dash
    )


def _means(drawing: _Drawing) -> alt.Chart:
    return layer_of("means", "point", by=["rule"], filled=True, size=70, opacity=1).encode(
        x=drawing.x,
        y=drawing.y(),
        color=drawing.scales.colour,
        shape=drawing.scales.shape,
        tooltip=SAYS,
    )


def _twins(drawing: _Drawing) -> alt.Chart:
    return layer_of(
        "twins",
        "point",
        by=["rule"],
        cursor="pointer",
        filled=True,
        fill=PAPER,
        size=70,
        opacity=1,
        strokeWidth=1.6,
    ).encode(
        x=drawing.x,
        y=drawing.y(),
        stroke=drawing.scales.stroke,
        shape=drawing.scales.shape,
        tooltip=SAYS,
    )


def _lost(drawing: _Drawing) -> alt.Chart:
    return layer_of(
        "lost", "text", by=["rule"], text="✕", baseline="middle", fontSize=13, fontWeight="bold"
    ).encode(
        x=drawing.x,
        y=drawing.y(),
        color=drawing.scales.colour,
        tooltip=SAYS,
    )


def _names(drawing: _Drawing) -> alt.Chart:
    return layer_of(
        "names", "text", by=["rule"], align="left", dx=6, fontSize=12, fontWeight="bold"
    ).encode(x=drawing.x, y=drawing.y(), text="name:N", color=drawing.scales.colour)


LAYERS: tuple[tuple[str, Callable[[_Drawing], alt.Chart]], ...] = (
    ("floors", _floors),
    ("frozen", _frozen),
    ("floor_names", _floor_names),
    ("seeds", _seed_points),
    ("means", _intervals),
    ("means", _curves),
    ("means", _means),
    ("twins", _twins),
    ("lost", _lost),
    ("names", _names),
)
"""The layers from below to above: the name of the rows, and the function that draws them."""
