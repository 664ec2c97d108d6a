"""Panels and figures: specifications that compile, files that are always the same."""

from __future__ import annotations

import io
import math
import xml.etree.ElementTree as ET
from dataclasses import dataclass

import altair as alt
import pytest
import vl_convert
from PIL import Image
from report.charts.drawn import marks

from depthgauge.report.charts.axes import Span
from depthgauge.report.charts.panel import (
    KINDS,
    PIXELS,
    SAYS,
    VEGA_LITE,
    Figure,
    Panel,
    layer_of,
    parameters,
)
from depthgauge.report.charts.rule_styles import RuleScales

HOSTILE = "<script>alert(1)</script>\"'&]]>-->\\ ${alone} \u2028"


@dataclass(frozen=True)
class Row:
    rule: str
    value: float | None
    k: int = 2
    says: str = HOSTILE


def panel(*rows: Row, title: str = "Some", by=("rule",), **facts) -> Panel:
    scales = RuleScales([row.rule for row in rows], [row.rule for row in rows])
    places = alt.X("k:Q", scale=alt.Scale(domain=[0, 4], nice=False))
    values = alt.Y("value:Q", scale=Span(0.0, 10.0).scale)
    layer = layer_of("points", "point", by=by, filled=True).encode(
        x=places, y=values, color=scales.colour, shape=scales.shape, tooltip=SAYS
    )
    return Panel("some", title, "some", [layer], {"points": rows}, **facts)


TWO = (Row("bp", 1.0), Row("dfa", 2.0, k=1))


@pytest.mark.parametrize(
    ("kind", "start"), [("png", b"\x89PNG"), ("svg", b"<svg"), ("pdf", b"%PDF")]
)
def test_every_kind_of_file_is_the_same_every_time(kind, start):
    """In a PDF, resources and fonts have no fixed order."""
    first, second = (Figure([panel(*TWO)], title="A").file(kind) for _ in range(2))
    assert first.startswith(start)
    if kind == "pdf":
        assert len(first) == len(second)
        assert first.partition(b"/ExtGState")[0] == second.partition(b"/ExtGState")[0]
    else:
        assert first == second


def test_there_are_no_other_kinds():
    assert KINDS == ("png", "svg", "pdf")


def test_a_png_has_two_pixels_for_each_of_the_drawing():
    figure = Figure([panel(*TWO)])
    width = float(ET.fromstring(figure.file("svg")).get("width") or 0)
    with Image.open(io.BytesIO(figure.file("png"))) as image:
        assert image.width == pytest.approx(PIXELS * width, abs=PIXELS)


def test_a_pdf_has_its_letters_and_no_date():
    content = Figure([panel(*TWO)], title="Γ").file("pdf")
    assert b"/FontFile" in content
    assert b"CreationDate" not in content


def test_a_file_asks_nobody_for_anything_and_has_no_names_of_colours():
    text = Figure([panel(*TWO)], title="A").file("svg").decode()
    assert "var(--" not in text
    assert {element.tag.rpartition("}")[2] for element in ET.fromstring(text).iter()} <= {
        *("svg", "g", "path", "rect", "line", "text", "tspan", "defs", "clipPath", "style")
    }


def test_names_from_data_cannot_become_markup():
    """In every place that shows them: titles, notes, legends, tooltips, the rows themselves."""
    texts = {}
    for label in (HOSTILE, "plain"):
        hostile = panel(Row(label, 1.0), title=label, note=label)
        texts[label] = Figure([hostile], title=label).file("svg").decode()
    tags, expected = (
        [element.tag for element in ET.fromstring(text).iter()] for text in texts.values()
    )
    assert tags == expected
    assert "<script" not in texts[HOSTILE]
    assert "&lt;script&gt;" in texts[HOSTILE]


def test_the_page_and_files_draw_the_same_layers_and_both_compile():
    some = panel(*TWO, choices={"k": 2})
    on_page = some.for_page()
    assert on_page["layer"] == some.specification()["layer"]
    assert on_page["width"] == "container"
    assert on_page["params"] == parameters({"k": 2})
    for drawing in (on_page | {"datasets": some.datasets()}, Figure([some]).drawing):
        compiled = vl_convert.vegalite_to_vega(drawing, vl_version=VEGA_LITE)
        assert {signal["name"] for signal in compiled["signals"]} >= {"alone", "k"}


def test_a_title_and_a_note_stand_above_a_panel_of_a_file():
    drawing = Figure([panel(*TWO, note="b")], title="A").drawing
    assert drawing["title"]["text"] == "A"
    assert drawing["concat"][0]["title"] == {"text": "Some", "subtitle": "b"}
    assert "title" not in Figure([panel(*TWO)]).drawing


def test_data_of_several_panels_do_not_mix():
    other = Panel("other", "Other", "other", panel(*TWO).layers, {"points": (Row("bp", 9.0),)})
    found = marks(Figure([panel(*TWO), other], columns=2))
    assert [(mark.panel, mark.points[0][1]) for mark in found] == [
        ("Some", 1),
        ("Some", 2),
        ("Other", 9),
    ]


def test_what_is_not_finite_is_null_and_lists_stay_lists():
    @dataclass(frozen=True)
    class Curve:
        values: tuple[float | None, ...]
        low: float = -math.inf

    rows = Panel("c", "", "", [], {"curves": [Curve((1.5, math.nan, None, math.inf))]}).datasets()
    assert rows == {"c:curves": [{"values": [1.5, None, None, None], "low": None}]}


@pytest.mark.parametrize("name", ["dfa", HOSTILE, "", "' || true || '"])
def test_a_rule_alone_is_drawn_alone(name):
    others = tuple(row for row in TWO if row.rule != name)
    every = panel(*others, Row(name or "empty", 5.0))
    assert len(marks(every)) == len(others) + 1
    alone = marks(every, alone=name)
    assert [mark.points[0][1] for mark in alone] == ([5.0] if name else [1, 2, 5])


def test_a_number_of_trained_blocks_chooses_its_rows():
    some = panel(*TWO, by=("rule", "k"), choices={"k": 2})
    assert [mark.points[0] for mark in marks(some)] == [(2, 1)]
    assert [mark.points[0] for mark in marks(some, k=1)] == [(1, 2)]
    assert marks(some, k=1, alone="bp") == []
