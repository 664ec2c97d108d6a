"""One style, files that are always the same, legends that are never cut."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ET

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image
from report.figures.drawn import lay_out

from depthgauge.report.figures.style import file_of, legend_below, panels, styled, with_lost


def some_figure(labels=("bp", "dfa")) -> Figure:
    with styled():
        figure, (axes, _) = panels(1, 2, 2.0, 2.0)
        axes.plot([1, 2], [3, 4])
        axes.set_title("Γ")
        legend_below(figure, [(label, Line2D([], [], color="red")) for label in labels])
    return figure


def laid_out(labels) -> Figure:
    return lay_out(some_figure(labels))


@pytest.mark.parametrize(
    ("kind", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")]
)
def test_every_format_is_the_same_every_time(kind, start):
    first, second = (file_of(some_figure(), kind) for _ in range(2))
    assert first.startswith(start)
    assert first == second


def test_a_pdf_has_its_fonts_and_no_date():
    content = file_of(some_figure(), "pdf")
    assert b"/FontFile2" in content
    assert b"/Type3" not in content
    assert b"CreationDate" not in content


def test_an_svg_has_no_date_and_needs_no_fonts():
    root = ET.fromstring(file_of(some_figure(), "svg"))
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert not {"date", "text"} & tags


def test_a_png_has_160_dots_per_inch():
    figure = some_figure()
    with Image.open(io.BytesIO(file_of(figure, "png"))) as image:
        assert image.width == pytest.approx(160 * figure.get_figwidth(), abs=1)


def test_what_users_have_set_for_themselves_does_not_show():
    plain = file_of(some_figure(), "svg")
    with mpl.rc_context({"font.size": 30, "lines.linewidth": 9, "axes.facecolor": "red"}):
        assert file_of(some_figure(), "svg") == plain
        assert mpl.rcParams["font.size"] == 30


def test_letters_that_the_font_lacks_raise_no_warning(recwarn):
    file_of(some_figure(["日本"]), "png")
    assert not recwarn.list


@pytest.mark.parametrize(
    "labels",
    [
        ["a"],
        ["_a", "b"],
        ["W" * 60],
        [f"rule {n}" for n in range(30)],
        ["W" * 48, *"abcdefghijklmn"],
    ],
)
def test_a_legend_lies_within_the_figure_and_below_the_panels(labels):
    figure = laid_out(labels)
    (legend,) = figure.legends
    box = legend.get_window_extent()
    assert box.x0 >= 0
    assert box.y0 >= 0
    assert box.x1 <= figure.bbox.x1
    assert all(axes.get_tightbbox().y0 >= box.y1 for axes in figure.axes)
    assert len(legend.get_texts()) == len(labels)


def test_a_legend_shows_labels_that_begin_with_an_underscore():
    (legend,) = some_figure(["_a", "b"]).legends
    assert [text.get_text() for text in legend.get_texts()] == ["_a", "b"]


def test_the_panels_keep_their_height_whatever_the_legend():
    heights = []
    for labels in (["a"], [f"rule {n}" for n in range(30)]):
        figure = laid_out(labels)
        heights.append(figure.axes[0].get_position().height * figure.get_figheight())
    assert heights[0] == pytest.approx(heights[1], rel=0.02)


def test_diverged_networks_are_said_beside_the_rule():
    assert with_lost("dfa", 2) == "dfa (2 diverged)"
    assert with_lost("dfa", 0) == "dfa"
