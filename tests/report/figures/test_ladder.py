"""The ladder as a figure: what is drawn, from studies and from documents."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from matplotlib.colors import to_hex
from report.figures.drawn import draw, error_bars, legend, points
from report.studies import (
    curve,
    make_floors,
    make_ladder,
    make_run,
    make_study,
    trained_study,
)
from scipy import stats

from depthgauge.report.figures import ladder
from depthgauge.report.figures.ladder import draw_ladders
from depthgauge.report.figures.style import file_of
from depthgauge.report.palette import looks

STUDY = make_study(
    make_run("bp", 1, k=0, accuracy=0.3),
    make_run("bp", 2, k=0, accuracy=0.4),
    make_run("bp", 1, k=2, accuracy=0.6),
    make_run("dfa", 1, k=0, accuracy=0.2),
    make_run("dfa", 1, k=1, accuracy=None),
)
LADDER = make_ladder({"bp": {0: [0.3, 0.4], 2: [0.6]}, "dfa": {0: [0.2], 1: [None]}}, blocks=2)
OTHER = make_ladder({"fa": curve(0.1, 0.2), "bp": curve(0.9, 0.4)}, blocks=1, chance=0.5)


@pytest.fixture(params=["study", "document"])
def axes(request):
    figure = draw(ladder, STUDY) if request.param == "study" else draw_ladders([LADDER])
    (only,) = figure.axes
    return only


def assert_points(found, expected):
    assert [y for _, y in found] == [pytest.approx(y) for _, y in expected]
    assert [round(k) for k, _ in found] == [k for k, _ in expected]
    assert all(abs(k - round(k)) <= 0.15 for k, _ in found)


def test_a_curve_for_each_rule_in_per_cent(axes):
    found = error_bars(axes)
    assert list(found) == ["bp", "dfa"]
    assert_points(points(found["bp"].lines[0]), [(0, 35), (2, 60)])
    assert_points(points(found["dfa"].lines[0]), [(0, 20)])


def heights(axes):
    ((bars,),) = [error_bars(axes)["bp"].lines[2]]
    return [high - low for (_, low), (_, high) in bars.get_segments()]


def test_bars_are_the_interval_over_seeds_and_one_seed_has_none():
    close = {"bp": {0: [0.3, 0.32], 2: [0.6]}}
    ((drawn,),) = [draw_ladders([make_ladder(close, blocks=2)]).axes]
    assert heights(drawn) == [pytest.approx(2 * stats.t.ppf(0.975, 1)), 0]


def test_an_interval_of_more_than_100_points_has_no_bar(axes):
    """Seeds at 30 and 40 %: ±63.5 points, which is more than there is."""
    assert heights(axes) == [0, 0]


def test_seeds_are_faint_dots_where_there_are_several(axes):
    dots = [points(line) for line in axes.lines if line.get_alpha() and line.get_marker() == "o"]
    assert [y for seeds in dots for _, y in seeds] == [pytest.approx(30), pytest.approx(40)]


def test_runs_that_were_lost_are_marked_at_the_bottom(axes):
    (lost,) = [line for line in axes.lines if line.get_marker() == "x"]
    assert_points(points(lost), [(1, 0)])
    assert to_hex(lost.get_color()) == to_hex(error_bars(axes)["dfa"].lines[0].get_color())


def test_chance_is_a_dotted_line_and_the_axes_are_named(axes):
    (chance,) = [line for line in axes.lines if line.get_label() == "chance"]
    assert set(chance.get_ydata()) == {12.5}
    assert {0, 1, 2} <= set(axes.get_xticks())
    assert "k" in axes.get_xlabel()
    assert "accuracy" in axes.get_ylabel()
    assert axes.get_title(loc="left") in ("digits, width 8, 2 blocks", "digits, width 32, 2 blocks")
    assert axes.get_ylim()[0] == 0


def test_a_line_shows_where_each_rule_stands_with_its_blocks_frozen(axes):
    frozen = {line.get_label(): line for line in axes.lines if "frozen" in line.get_label()}
    curves = error_bars(axes)
    at_zero = {
        f"{rule}, frozen": bars.lines[0].get_ydata()[0]
        for rule, bars in curves.items()
        if len(bars.lines[0].get_ydata()) > 1
    }
    assert at_zero
    assert {label: line.get_ydata()[0] for label, line in frozen.items()} == at_zero


def test_the_legend_names_every_rule_and_line(axes):
    lines = ["chance", "all blocks frozen", "diverged or failed"]
    assert legend(axes.figure) == ["bp", "dfa", *lines]


def test_without_losses_and_chance_the_legend_has_the_rules_alone():
    assert legend(draw(ladder, make_study(make_run("bp"), chance=None))) == ["bp"]


def hollow(axes):
    return [line for line in axes.lines if line.get_markerfacecolor() == "none"]


@pytest.mark.parametrize("source", ["study", "document"])
def test_swap_twins_are_hollow_signs_of_their_rule(source):
    """What a block earns is seen as the distance from the hollow sign up to the curve."""
    study = trained_study()
    figure = draw(ladder, study) if source == "study" else draw_ladders([study.ladder()])
    (axes,) = figure.axes
    signs = next(line for line in hollow(axes) if len(line.get_xdata()))
    assert_points(points(signs), [(1, 33.7), (2, 168.4 / 3)])
    curve = error_bars(axes)["bp"].lines[0]
    assert signs.get_color() == curve.get_color()
    assert signs.get_marker() == curve.get_marker()
    assert signs.get_linestyle() == "None"
    assert list(signs.get_xdata()) == list(curve.get_xdata())[1:]
    assert legend(figure)[-1] == "added block on noise"


def test_swap_twins_that_all_diverged_have_neither_sign_nor_name():
    lost = make_ladder({"bp": curve(0.3, 0.5)}, twins={"bp": {1: [None]}}, blocks=1)
    figure = draw_ladders([lost])
    assert [len(line.get_xdata()) for line in hollow(figure.axes[0])] == [0]
    assert "added block on noise" not in legend(figure)


@pytest.mark.parametrize("control", ["shallow", "wide_block"])
def test_networks_with_other_blocks_do_not_belong_on_this_axis(control):
    other = f"dfa[{control}]"
    figure = draw(ladder, make_study(make_run(other, k=0), make_run("bp")))
    assert list(error_bars(figure.axes[0])) == ["bp"]


def test_a_rule_keeps_its_look_whether_or_not_others_are_left_out():
    study = make_study(make_run("odd", state="waiting"), make_run("own"))
    look = looks(list(study))["own"]
    assert look != looks(["own"])["own"]
    line = error_bars(draw(ladder, study).axes[0])["own"].lines[0]
    assert (line.get_color(), line.get_marker()) == (look.light, look.marker)


def test_one_panel_for_each_ladder_with_its_own_chance_on_one_axis():
    figure = draw_ladders([LADDER, OTHER])
    first, second = figure.axes
    assert list(error_bars(first)) == ["bp", "dfa"]
    assert list(error_bars(second)) == ["fa", "bp"]
    assert first.get_ylim() == second.get_ylim()
    assert 90 < second.get_ylim()[1] < 110
    lines = ["all blocks frozen", "chance", "diverged or failed"]
    assert sorted(legend(figure)) == sorted(["bp", "dfa", "fa", *lines])
    chances = [
        line.get_ydata()[0] for a in figure.axes for line in a.lines if line.get_label() == "chance"
    ]
    assert chances == [12.5, 50.0]


def test_a_rule_keeps_its_colour_and_marker_over_the_panels():
    first, second = draw_ladders([LADDER, OTHER]).axes
    seen = [
        {
            rule: (c.lines[0].get_color(), c.lines[0].get_marker())
            for rule, c in error_bars(a).items()
        }
        for a in (first, second)
    ]
    assert seen[0]["bp"] == seen[1]["bp"]
    assert len({seen[0]["bp"], seen[0]["dfa"], seen[1]["fa"]}) == 3


def test_an_interval_beyond_what_there_is_does_not_stretch_the_axis():
    figure = draw(ladder, make_study(make_run(accuracy=0.95), make_run(seed=2, accuracy=0.99)))
    assert figure.axes[0].get_ylim() == (0, 103)


def test_a_study_without_finished_runs_has_no_ladder():
    study = make_study(make_run(accuracy=None, state="running"))
    assert "no finished runs" in (ladder.missing(study) or "")


@pytest.mark.parametrize("label", ["<script>alert(1)</script>", 'a"&b', "x-->y", "]]>"])
def test_a_label_cannot_become_markup_in_the_svg(label):
    drawn = file_of(draw_ladders([make_ladder({label: curve(0.1, 0.2)}, task=label)]), "svg")
    tags = {element.tag.rpartition("}")[2] for element in ET.fromstring(drawn).iter()}
    assert "script" not in tags
    assert b"<script" not in drawn


def test_floors_are_lines_across_with_their_names_in_the_legend():
    with_floors = LADDER.model_copy(update={"floors": make_floors(linear=0.55, shallow=0.45)})
    figure = draw_ladders([with_floors])
    (only,) = figure.axes
    drawn = {line.get_label(): set(line.get_ydata()) for line in only.lines}
    assert [*drawn["linear classifier"]] == [pytest.approx(55.0)]
    assert [*drawn["bp[shallow]"]] == [pytest.approx(45.0)]
    assert legend(figure)[2:5] == ["chance", "linear classifier", "bp[shallow]"]
