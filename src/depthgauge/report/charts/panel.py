"""Panels of charts, and figures made of panels, for pages, notebooks and files."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import altair as alt
import vl_convert as vlc

from depthgauge.report.charts.colours import INK, LINE, PAPER, SOFT, with_light_colours

KINDS = ("png", "svg", "pdf")

VEGA_LITE = "6.4"
PIXELS = 2
"""Pixels of a PNG, along each side, for each pixel of the drawing."""

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"

CONFIG: dict[str, Any] = {
    "mark": {"aria": False},
    "background": PAPER,
    "font": FONT,
    "view": {"stroke": None},
    "axis": {
        "aria": False,
        "labelColor": INK,
        "titleColor": INK,
        "domainColor": LINE,
        "tickColor": LINE,
        "gridColor": LINE,
        "gridOpacity": 0.6,
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelLimit": 200,
    },
    "legend": {
        "orient": "bottom",
        "columns": 4,
        "labelColor": INK,
        "labelFontSize": 11,
        "labelLimit": 260,
        "symbolStrokeWidth": 2,
    },
    "title": {
        "anchor": "start",
        "color": INK,
        "fontSize": 12,
        "subtitleColor": SOFT,
        "subtitleFontSize": 11,
    },
    "text": {"color": SOFT, "fontSize": 11},
    "concat": {"spacing": 28},
}

SAYS = alt.Tooltip("says:N")
"""The tooltip of a row: its field `says`."""

Rows = Sequence[Any]
"""Rows of a chart's data: objects of one small class each."""

CHOICES: Mapping[str, str] = {
    "rule": "alone === '' || datum.rule === alone",
    "k": "datum.k === k",
    "seed": "seed === 'all' || datum.seed === seed",
    "epoch": "datum.epoch === epoch || (datum.is_last && datum.epoch < epoch)",
}
"""For each field that a reader chooses by, Vega's filter for the rows to draw."""


@dataclass(frozen=True)
class Panel:
    """A plot with its data.

    Attributes:
        id: the id of the panel's element on a page.
        title: the text above the panel.
        description: the text for screen readers.
        layers: the marks, the lowest first; each mark draws the rows of one name in `rows`.
        rows: the data by name.
        choices: the fields by which a reader of a page can choose, each with its first choice.
        height, width: the size of the area between the axes, in pixels.
        note: a remark below the title.
        reword: applied to the titles of the axes and to the texts of rows.
    """

    id: str
    title: str
    description: str
    layers: Sequence[alt.Chart]
    rows: Mapping[str, Rows]
    choices: Mapping[str, Any] = field(default_factory=dict)
    height: int = 240
    width: int = 320
    note: str = ""
    reword: Callable[[str], str] = str

    def specification(self) -> dict[str, Any]:
        """Return the Vega-Lite specification of the panel, without data and title."""
        drawn: dict[str, Any] = alt.layer(*self.layers).to_dict(validate=False)
        above = {"data": drawn.get("data")}  # altair moves the data of a single layer up
        layers = [_retitled(self._layer(above | layer), self.reword) for layer in drawn["layer"]]
        return {"height": self.height, "width": self.width, "layer": layers}

    def reworded(self, reword: Callable[[str], str]) -> Panel:
        """Return the panel with `reword` applied to its title, description, note and axes."""
        title, note = reword(self.title), reword(self.note)
        return replace(
            self, title=title, note=note, description=reword(self.description), reword=reword
        )

    def for_page(self) -> dict[str, Any]:
        """Return a Vega-Lite specification without legend, as wide as its HTML element."""
        return self.specification() | {
            "$schema": f"https://vega.github.io/schema/vega-lite/v{VEGA_LITE}.json",
            "width": "container",
            "autosize": {"type": "fit-x", "contains": "padding"},
            "config": CONFIG | {"legend": {"disable": True}, "background": None},
            "params": parameters(self.choices),
        }

    def datasets(self) -> dict[str, list[dict[str, Any]]]:
        """Return the data by name; numbers that are not finite become None."""
        return {
            self._name(name): [self._worded(_finite(vars(row))) for row in rows]
            for name, rows in self.rows.items()
        }

    def _worded(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return a row with other words in its texts; labels of rules stay as they are."""
        return {
            name: self.reword(value) if isinstance(value, str) and name != "rule" else value
            for name, value in row.items()
        }

    def _layer(self, layer: dict[str, Any]) -> dict[str, Any]:
        return layer | {"data": {"name": self._name(layer["data"]["name"])}}

    def _name(self, name: str) -> str:
        return f"{self.id}:{name}"


def _retitled(part: Any, reword: Callable[[str], str]) -> Any:
    """Return a part of a specification with `reword` applied to every title in it."""
    if isinstance(part, list):
        return [_retitled(each, reword) for each in part]
    if not isinstance(part, dict):
        return part
    return {
        name: reword(value)
        if name == "title" and isinstance(value, str)
        else _retitled(value, reword)
        for name, value in part.items()
    }


def parameters(choices: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a chart's parameters: the reader's `choices`, and `alone`.

    `alone` names the only rule to draw. If `alone` is empty, all rules are drawn.
    """
    return [{"name": name, "value": value} for name, value in {"alone": "", **choices}.items()]


def layer_of(rows: str, mark: str, by: Sequence[str] = (), **style: Any) -> alt.Chart:
    """Return a layer that draws the data of the name `rows`.

    The layer draws only the rows that fit the reader's choices for the fields `by`.
    """
    drawn: Any = {"type": mark, **style}
    layer: alt.Chart = alt.Chart(alt.NamedData(rows), mark=drawn)
    for name in by:
        layer = layer.transform_filter(CHOICES[name])
    return layer


@dataclass(frozen=True)
class Figure:
    """Panels side by side, under one title and over one legend."""

    panels: Sequence[Panel]
    columns: int = 1
    title: str = ""

    def reworded(self, reword: Callable[[str], str]) -> Figure:
        """Return the figure with `reword` applied to its title and panels."""
        panels = [panel.reworded(reword) for panel in self.panels]
        return replace(self, title=reword(self.title), panels=panels)

    @property
    def drawing(self) -> dict[str, Any]:
        """The Vega-Lite specification of the figure, with its data and in light colours."""
        datasets: dict[str, Any] = {}
        choices: dict[str, Any] = {}
        for panel in self.panels:
            datasets |= panel.datasets()
            choices |= panel.choices
        whole = {
            "$schema": f"https://vega.github.io/schema/vega-lite/v{VEGA_LITE}.json",
            "concat": [_titled(panel) for panel in self.panels],
            "columns": self.columns,
            "params": parameters(choices),
            "config": CONFIG,
            "datasets": datasets,
            **({"title": {"text": self.title, "fontSize": 13, "offset": 14}} if self.title else {}),
        }
        coloured: dict[str, Any] = json.loads(with_light_colours(json.dumps(whole)))
        return coloured

    def file(self, kind: str) -> bytes:
        """Return the content of a file with the figure; `kind` is one of `KINDS`."""
        if kind == "svg":
            return vlc.vegalite_to_svg(self.drawing, vl_version=VEGA_LITE).encode()
        if kind == "pdf":
            return bytes(vlc.vegalite_to_pdf(self.drawing, vl_version=VEGA_LITE))
        return bytes(vlc.vegalite_to_png(self.drawing, vl_version=VEGA_LITE, scale=PIXELS))


def _titled(panel: Panel) -> dict[str, Any]:
    title = {"text": panel.title, **({"subtitle": panel.note} if panel.note else {})}
    return {"title": title} | panel.specification()


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    return [_finite(part) for part in value] if isinstance(value, list | tuple) else value
