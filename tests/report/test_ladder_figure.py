"""The ladder as a figure: what is drawn, and what is written."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from PIL import Image
from report.ladders import curve, make_ladder

from depthgauge.report import ladder_figure
from depthgauge.report.ladder_figure import draw_ladders

LADDER = make_ladder({"bp": {0: [0.3, 0.4], 2: [0.6, 0.7]}, "dfa": curve(0.3, 0.2, 0.1)})
OTHER = make_ladder({"fa": curve(0.1, 0.2), "bp": curve(0.3, 0.4)}, blocks=1, chance=0.5)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Draws, and gives the figure before it is closed."""
    figures: list[Figure] = []
    close = plt.close

    def keep(figure: Figure) -> None:
        figures.append(figure)
        close(figure)

    monkeypatch.setattr(ladder_figure.plt, "close", keep)

    def draw(*ladders: dict[str, Any]) -> Figure:
        draw_ladders(ladders, [tmp_path / "figure.svg"])
        return figures[-1]

    return draw


def curves(axes: Any) -> dict[str, ErrorbarContainer]:
    return {c.get_label(): c for c in axes.containers if isinstance(c, ErrorbarContainer)}


def points(container: ErrorbarContainer) -> list[tuple[float, float]]:
    line = container.lines[0]
    return [(float(x), float(y)) for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)]


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


# The files


def test_png_and_svg_are_written(tmp_path):
    paths = [tmp_path / "a.png", tmp_path / "a.svg", tmp_path / "a.pdf"]
    draw_ladders([LADDER], paths)
    with Image.open(paths[0]) as image:
        assert image.format == "PNG"
        assert min(image.size) > 300
        assert len(image.convert("L").getcolors()) > 10
    assert ET.parse(paths[1]).getroot().tag.endswith("svg")
    assert paths[2].read_bytes().startswith(b"%PDF")


def test_the_same_ladder_gives_the_same_svg(tmp_path):
    paths = [tmp_path / "a.svg", tmp_path / "b.svg"]
    for path in paths:
        draw_ladders([LADDER], [path])
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_every_figure_is_closed(tmp_path):
    before = plt.get_fignums()
    draw_ladders([LADDER], [tmp_path / "a.svg"])
    assert plt.get_fignums() == before


@pytest.mark.parametrize("label", ["<script>alert(1)</script>", 'a"&b', "x-->y", "]]>"])
def test_a_label_cannot_become_markup_in_the_svg(tmp_path, label):
    path = tmp_path / "a.svg"
    draw_ladders([make_ladder({label: curve(0.1, 0.2)}, task=label)], [path])
    tags = {element.tag.rpartition("}")[2] for element in ET.parse(path).iter()}
    assert "script" not in tags
    assert "<script" not in path.read_text()


# What is drawn


def test_one_curve_for_each_rule_in_per_cent_with_its_spread(drawn):
    (axes,) = drawn(LADDER).axes
    found = curves(axes)
    assert list(found) == ["bp", "dfa"]
    assert points(found["bp"]) == [(0, pytest.approx(35)), (2, pytest.approx(65))]
    assert points(found["dfa"]) == [(k, pytest.approx(y)) for k, y in enumerate((30, 20, 10))]
    ((bars,),) = [found["bp"].lines[2]]
    low, high = bars.get_segments()[0][:, 1]
    assert high - low == pytest.approx(2 * 7.0710678)


def test_chance_is_a_dotted_line(drawn):
    (axes,) = drawn(LADDER).axes
    (chance,) = [line for line in axes.lines if line.get_label() == "chance"]
    assert set(chance.get_ydata()) == {12.5}
    assert chance.get_linestyle() == ":"


def test_axes_are_named_and_show_every_k(drawn):
    (axes,) = drawn(LADDER).axes
    assert axes.get_xticks().tolist() == [0, 1, 2, 3, 4]
    assert "k" in axes.get_xlabel()
    assert "accuracy" in axes.get_ylabel()
    assert "digits" in axes.get_title(loc="left")
    assert axes.get_ylim()[0] == 0


def test_one_panel_for_each_ladder_with_its_own_chance(drawn):
    figure = drawn(LADDER, OTHER)
    first, second = figure.axes
    assert list(curves(first)) == ["bp", "dfa"]
    assert list(curves(second)) == ["fa", "bp"]
    chances = [
        next(line.get_ydata()[0] for line in axes.lines if line.get_label() == "chance")
        for axes in figure.axes
    ]
    assert chances == [12.5, 50.0]


def test_a_rule_keeps_its_colour_and_marker_over_the_panels(drawn):
    first, second = drawn(LADDER, OTHER).axes
    looks = [
        {
            rule: (to_hex(c.lines[0].get_color()), c.lines[0].get_marker())
            for rule, c in curves(axes).items()
        }
        for axes in (first, second)
    ]
    assert looks[0]["bp"] == looks[1]["bp"]
    assert len({looks[0]["bp"], looks[0]["dfa"], looks[1]["fa"]}) == 3


def test_the_legend_names_every_rule_of_every_panel_once(drawn):
    assert sorted(legend(drawn(LADDER, OTHER))) == ["bp", "chance", "dfa", "fa"]


def test_more_rules_than_colours(drawn):
    rules = {f"rule {number}": curve(0.1, 0.2) for number in range(12)}
    (axes,) = drawn(make_ladder(rules)).axes
    assert len(curves(axes)) == 12


def test_diverged_rungs_are_left_out(drawn):
    (axes,) = drawn(make_ladder({"x": {0: [0.1], 1: [None], 2: [0.3]}, "y": {0: [None]}})).axes
    assert points(curves(axes)["x"]) == [(0, pytest.approx(10)), (2, pytest.approx(30))]


@pytest.mark.parametrize("name", ["cost$", "_mine", "$a$ $\\frac{$"])
def test_a_rule_is_shown_by_its_name_whatever_it_is(drawn, name):
    figure = drawn(make_ladder({name: curve(0.1, 0.2)}))
    assert name in [text.replace("\\$", "$") for text in legend(figure)]
