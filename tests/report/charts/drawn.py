"""The marks of a figure as they are drawn, read back into the units of its axes.

The renderer computes them: what a chart aggregates and filters is seen here, without pixels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import vl_convert

from depthgauge.report.charts.panel import VEGA_LITE, Figure, Panel

Point = tuple[float, float]

BETWEEN = " leads to "


@dataclass(frozen=True)
class Mark:
    """A point, or the points of a line.

    Attributes:
        panel: the title of its panel.
        rows: the name of its data.
        kind: the type of mark.
        colour: of its outline, or else inside.
        points: where it stands, in the units of the axes.
        says: what a reader sees beside the pointer.
        run: the run that opens where it is clicked, if any.
        style: everything else that is known of it.
    """

    panel: str
    rows: str
    kind: str
    colour: str
    points: list[Point]
    says: str
    run: str | None
    style: Mapping[str, Any]


def marks(figure: Figure | Panel, **chosen: Any) -> list[Mark]:
    """Draw a figure as if a reader had chosen these values of its parameters."""
    drawing = (Figure([figure]) if isinstance(figure, Panel) else figure).drawing
    drawing["config"] = drawing["config"] | {"mark": {"aria": True}}
    known = {parameter["name"]: parameter for parameter in drawing["params"]}
    for name, value in chosen.items():
        known[name]["value"] = value
    for panel in drawing["concat"]:
        for layer in panel["layer"]:
            encoding = layer["encoding"]
            if "tooltip" in encoding:
                told = {"calculate": f"datum.says + '{BETWEEN}' + (datum.run || '')", "as": "told"}
                layer["transform"] = [*layer.get("transform", ()), told]
                encoding["description"] = {"field": "told", "type": "nominal"}
    scene = vl_convert.vegalite_to_scenegraph(drawing, vl_version=VEGA_LITE)["scenegraph"]
    return list(_marks(drawing, scene))


def lines(found: list[Mark], panel: str = "", *, seeds: bool = False) -> list[list[Point]]:
    """Return the lines of means, or the faint ones of seeds, of one panel if it is named."""
    return [
        [(round(x, 6), float(f"{y:.6g}")) for x, y in mark.points]
        for mark in found
        if mark.panel.startswith(panel)
        and mark.kind == "line"
        and ("strokeOpacity" in mark.style) == seeds
        and mark.points
    ]


def _marks(drawing: Mapping[str, Any], node: Any) -> Iterator[Mark]:
    name = re.fullmatch(r"concat_(\d+)_layer_(\d+)(?:_layer_\d+)?_marks", node.get("name") or "")
    if name is None:
        for part in node.get("items") or ():
            yield from _marks(drawing, part)
        return
    panel = drawing["concat"][int(name[1])]
    layer = panel["layer"][int(name[2])]
    items = node.get("items") or []
    groups = [items] if node["marktype"] in ("line", "area") else [[item] for item in items]
    for group in groups:
        style = group[0]
        says, _, run = style.get("description", "").partition(BETWEEN)
        yield Mark(
            panel=panel["title"]["text"],
            rows=layer["data"]["name"].rpartition(":")[2],
            kind=node["marktype"],
            colour=style.get("stroke") or style.get("fill") or "",
            points=[
                (_value(panel, "x", item.get("x")), _value(panel, "y", item.get("y")))
                for item in group
                if item.get("defined", True)
            ],
            says=says,
            run=run or None,
            style=style,
        )


def _value(panel: Mapping[str, Any], axis: str, place: float | None) -> float:
    """Return the value at a place; the place itself where the axis has names."""
    if place is None:
        return float("nan")
    scales = [layer["encoding"].get(axis, {}).get("scale") for layer in panel["layer"]]
    scale = next(scale for scale in scales if scale)
    if any(isinstance(end, str) for end in scale["domain"]):
        return place
    low, high = scale["domain"]
    share = place / panel["width"] if axis == "x" else 1 - place / panel["height"]
    value = (
        low * (high / low) ** share if scale.get("type") == "log" else low + share * (high - low)
    )
    return float(f"{value:.9g}")
