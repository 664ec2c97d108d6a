"""The audit as a figure."""

from __future__ import annotations

import pytest
from report.figures.drawn import draw, lay_out, panel, words
from report.studies import make_audit, make_network, make_run, make_study

from depthgauge.report.figures import audit
from depthgauge.report.palette import looks

TITLES = ["D1 scale", "D2 reference", "D2s stability", "D3 depth utility"]


def draw_audit(*networks, bp_gain=0.3):
    return draw(audit, make_study(audit=make_audit(*networks, bp_gain=bp_gain)))


def rows(axes):
    """The rules from top to bottom."""
    assert axes.get_ylim()[0] > axes.get_ylim()[1]
    return [label.get_text() for label in axes.get_yticklabels()]


def dots(axes, rule):
    place = rows(axes).index(rule)
    drawn = [line for line in axes.lines if line.get_linestyle() == "None"]
    drawn = [line for line in drawn if line.get_marker() not in ("<", ">")]
    return [float(x) for line in drawn for x, y in zip(*line.get_data(), strict=True) if y == place]


def bar(axes, rule):
    place = rows(axes).index(rule)
    bars = [line for line in axes.lines if line.get_marker() == "None"]
    ends = [line.get_xdata() for line in bars if list(line.get_ydata()) == [place, place]]
    return tuple(map(float, ends[0])) if ends else None


def thresholds(axes):
    return [float(line.get_xdata()[0]) for line in axes.lines if line.get_linestyle() == "--"]


def shaded(axes):
    (span,) = axes.patches
    return span.get_x(), span.get_x() + span.get_width()


GOOD_AND_BAD = (
    make_network("bad", growth=900.0, gradient=1e-6, stability=0.5, accuracy=0.41),
    make_network("good", growth=1.2, gradient=0.3, stability=-0.1, accuracy=0.6),
)


def test_each_reading_has_a_panel_with_its_threshold_and_the_bad_side_shaded():
    figure = draw_audit(*GOOD_AND_BAD)
    assert [axes.get_title(loc="left") for axes in figure.axes] == TITLES
    assert [thresholds(axes) for axes in figure.axes] == [[50], [1.28e-5], [0.3], [2]]
    sides = [shaded(axes) for axes in figure.axes]
    assert [side[0] for side in sides][::2] == [50, pytest.approx(0.3)]
    assert [side[1] for side in sides][1::2] == [pytest.approx(1.28e-5), pytest.approx(2)]
    assert [axes.get_xscale() for axes in figure.axes] == ["log", "log", "linear", "linear"]


def test_the_best_rule_is_on_top_in_every_panel():
    assert [rows(axes) for axes in draw_audit(*GOOD_AND_BAD).axes] == [["good", "bad"]] * 4


def test_every_panel_has_an_order_of_its_own():
    figure = draw_audit(
        make_network("a", growth=2.0, gradient=1e-3), make_network("b", growth=1.0, gradient=1e-4)
    )
    assert [rows(axes) for axes in figure.axes[:2]] == [["b", "a"], ["a", "b"]]


def test_every_seed_is_a_dot_with_the_look_of_its_rule():
    networks = [make_network("x", seed, growth=g) for seed, g in ((1, 2.0), (2, 8.0))]
    figure = draw_audit(make_network("bp"), *networks)
    axes = panel(figure, "D1")
    assert dots(axes, "x") == [2.0, 8.0]
    look = looks(["bp", "x"])["x"]
    (line,) = [one for one in axes.lines if list(one.get_xdata()) == [2.0, 8.0]]
    assert (line.get_color(), line.get_marker()) == (look.light, look.marker)


def test_gains_are_in_points():
    figure = draw_audit(make_network(accuracy=0.75, frozen=0.5))
    assert dots(panel(figure, "D3"), "bp") == [pytest.approx(25)]


def test_bars_are_the_intervals_of_the_diagnostics():
    networks = [
        make_network("x", s, growth=g, accuracy=0.5 + s / 100)
        for s, g in ((1, 9.0), (2, 9.1), (3, 9.2))
    ]
    study = make_study(audit=make_audit(*networks))
    figure = draw(audit, study)
    d1, _, d3 = study["x"].findings
    growth, gain = d1.intervals["growth"], d3.intervals["depth_gain"]
    assert bar(panel(figure, "D1"), "x") == pytest.approx((growth.low, growth.high))
    assert bar(panel(figure, "D3"), "x") == pytest.approx((100 * gain.low, 100 * gain.high))


def test_one_seed_has_no_bar():
    assert bar(panel(draw_audit(make_network()), "D1"), "bp") is None


def test_a_bar_that_goes_on_beyond_the_panel_ends_in_an_arrow():
    growths = enumerate((6.0, 12.0, 40.0))
    axes = panel(draw_audit(*[make_network("x", seed, growth=g) for seed, g in growths]), "D1")
    assert bar(axes, "x") == pytest.approx(axes.get_xlim())
    assert sorted(line.get_marker() for line in axes.lines if line.get_marker() in "<>") == [
        "<",
        ">",
    ]
    assert axes.get_xlim()[1] < 1e4


def test_an_interval_too_wide_to_mean_anything_has_no_bar_unless_it_settles_the_question():
    for growths, drawn in [((1.0, 40.0), False), ((1e20, 2e20), True)]:
        networks = [make_network("x", seed, growth=g) for seed, g in enumerate(growths)]
        assert (bar(panel(draw_audit(*networks), "D1"), "x") is not None) is drawn


def test_networks_that_diverged_are_marked_in_every_panel():
    lost = [make_network("x", 2, None), make_network("y", 1, None)]
    figure = draw_audit(make_network("x", 1), *lost)
    for axes in figure.axes:
        assert rows(axes) == ["x", "y"]
        assert words(axes) == ["✕ 1 diverged", "✕ diverged"]


def test_a_diverged_run_of_a_study_without_an_audit_is_marked():
    figure = draw(audit, make_study(make_run("x", accuracy=None), make_run("bp")))
    assert [words(axes) for axes in figure.axes] == [["✕ diverged"]] * 2


def test_readings_without_a_place_on_a_log_axis_are_said():
    figure = draw_audit(make_network("x", 1, gradient=0.0), make_network("x", 2, gradient=0.2))
    assert words(panel(figure, "D2 ")) == ["✕ 1 at 0"]
    assert dots(panel(figure, "D2 "), "x") == [0.2]


def test_a_reading_that_is_lacking_is_said():
    figure = draw_audit(make_network("x", stability=None), make_network("y"))
    assert words(panel(figure, "D2s")) == ["not read"]
    assert rows(panel(figure, "D2s")) == ["y", "x"]


def test_readings_that_nobody_took_have_no_panel():
    figure = draw(audit, make_study(make_run("x", k=2), make_run("x", k=0, accuracy=0.2)))
    assert [axes.get_title(loc="left") for axes in figure.axes] == [TITLES[0], TITLES[1], TITLES[3]]


def test_where_depth_does_not_apply_nothing_is_shaded():
    axes = panel(draw_audit(make_network(), bp_gain=0.001), "D3")
    assert thresholds(axes) == []
    assert "no rule is judged" in axes.get_xlabel()


def test_many_rules_stand_two_by_two_and_few_side_by_side():
    def columns(count):
        figure = lay_out(draw_audit(*(make_network(f"rule {n}") for n in range(count))))
        return len({round(axes.get_position().x0, 3) for axes in figure.axes})

    assert (columns(2), columns(12)) == (4, 2)


def test_a_long_name_leaves_the_panels_their_width():
    widths = []
    for name in ("x", "W" * 70):
        figure = lay_out(draw_audit(make_network(name)))
        axes = figure.axes[0]
        widths.append(axes.get_position().width * figure.get_figwidth())
        assert all(axes.get_tightbbox().x0 >= 0 for axes in figure.axes)
    assert min(widths) > 1.5


def test_a_study_whose_networks_are_not_finished_has_nothing_to_draw():
    study = make_study(make_run(state="running", accuracy=None))
    assert "no finished run" in (audit.missing(study) or "")
