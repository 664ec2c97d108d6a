"""The ladder: what it shows, of studies and of documents, and how it is drawn."""

from __future__ import annotations

from itertools import pairwise

import pytest
from report.charts.drawn import lines, marks
from report.studies import curve, make_floors, make_ladder, make_run, make_study, trained_study
from scipy import stats

from depthgauge.report.charts import ladder
from depthgauge.report.charts.colours import with_light_colours
from depthgauge.report.charts.ladder import draw_ladders
from depthgauge.report.charts.ladder_data import LadderData, ladder_data, spread_out
from depthgauge.report.charts.panel import Figure
from depthgauge.report.charts.rule_styles import rule_styles

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
def data(request) -> LadderData:
    return ladder_data(STUDY.ladder() if request.param == "study" else LADDER)


def heights(points) -> list[tuple[str, int, float]]:
    """Return rule, k and accuracy of points; each stands at most a little beside its k."""
    assert all(abs(point.place - round(point.place)) <= 0.15 for point in points)
    return [(p.rule, round(p.place), round(p.accuracy, 6)) for p in points]


def test_the_means_of_each_rule_in_per_cent(data):
    assert heights(data.means) == [("bp", 0, 35), ("bp", 2, 60), ("dfa", 0, 20)]


def test_every_seed_has_a_point_that_leads_to_its_run():
    data = ladder_data(STUDY.ladder())
    assert heights(data.seeds) == [("bp", 0, 30), ("bp", 0, 40), ("bp", 2, 60), ("dfa", 0, 20)]
    runs = {run.identity: run for run in STUDY.runs}
    for point in data.seeds:
        run = runs[point.run]
        assert (run.label, run.config.k) == (point.rule, round(point.place))
        assert 100 * run.accuracy == pytest.approx(point.accuracy)
    assert data.seeds[1].says == "bp, k = 0, seed 2: 40.0 %"


def test_bars_are_the_interval_over_seeds_and_one_seed_has_none():
    several, single = ladder_data(make_ladder({"bp": {0: [0.3, 0.32], 2: [0.6]}}, blocks=2)).means
    assert several.high - several.low == pytest.approx(2 * stats.t.ppf(0.975, 1))
    assert several.says == "bp, k = 0: 31.0 %, 95 % [18.3, 43.7], 2 seeds"
    assert (single.low, single.high) == (None, None)
    assert single.says == "bp, k = 2: 60.0 %, one seed"


def test_an_interval_of_more_than_100_points_has_no_bar(data):
    """Seeds at 30 and 40 %: ±63.5 points, which is more than there is."""
    assert (data.means[0].low, data.means[0].high) == (None, None)
    assert data.means[0].says.endswith("2 seeds, too few for an interval")


def test_runs_that_were_lost_are_marked_at_the_bottom(data):
    assert heights(data.lost) == [("dfa", 1, 0)]
    assert data.lost[0].says == "dfa, k = 1: 1 diverged"


def test_failed_runs_are_lost_too():
    rungs = (LADDER.rules["dfa"][1].model_copy(update={"failed": 2}),)
    ladder = LADDER.model_copy(update={"rules": {"dfa": rungs}})
    assert [lost.says for lost in ladder_data(ladder).lost] == ["dfa, k = 1: 1 diverged, 2 failed"]


def test_a_line_shows_where_each_rule_with_a_curve_stands_with_its_blocks_frozen(data):
    assert [(line.rule, round(line.accuracy, 6)) for line in data.frozen] == [
        ("bp", 35),
        ("dfa", 20),
    ]
    assert ladder_data(make_ladder({"x": {0: [0.4]}})).frozen == ()


def test_swap_twins_stand_at_their_rung_and_lead_to_the_run_of_their_first_seed():
    """What a block earns is seen as the distance from the hollow sign up to the curve."""
    study = trained_study()
    data = ladder_data(study.ladder())
    assert heights(data.twins) == [("bp", 1, 33.7), ("bp", 2, round(168.4 / 3, 6))]
    own = {(p.rule, round(p.place)): p.place for p in data.means}
    runs = {run.identity: run for run in study.runs}
    for twin in data.twins:
        assert twin.place == own[twin.rule, round(twin.place)]
        config = runs[twin.run].config
        assert (config.k, config.seed, config.is_rung) == (round(twin.place), 1, False)
        assert "with noise as the credit of the added block" in twin.says


def test_swap_twins_that_all_diverged_have_no_sign():
    lost = make_ladder({"bp": curve(0.3, 0.5)}, twins={"bp": {1: [None]}}, blocks=1)
    assert ladder_data(lost).twins == ()


@pytest.mark.parametrize("control", ["shallow", "wide_block"])
def test_networks_with_other_blocks_do_not_belong_on_this_axis(control):
    study = make_study(make_run(f"dfa[{control}]", k=0), make_run("bp"))
    assert {point.rule for point in ladder_data(study.ladder()).means} == {"bp"}


def test_chance_and_floors_are_lines_across_with_their_names():
    with_floors = LADDER.model_copy(update={"floors": make_floors(linear=0.55, shallow=0.45)})
    said = {line.says: round(line.accuracy, 6) for line in ladder_data(with_floors).floors}
    assert said == {
        "linear classifier: 55.0 %": 55,
        "bp[shallow]: 45.0 %": 45,
        "chance: 12.5 %": 12.5,
    }
    names = [name.name for name in ladder_data(with_floors).floor_names]
    assert sorted(names) == ["bp[shallow] 45.0 %", "chance 12.5 %", "linear classifier 55.0 %"]
    assert ladder_data(make_study(make_run("bp"), chance=None).ladder()).floors == ()


def test_names_stand_beside_the_ends_of_curves_and_apart():
    close = {f"rule {n}": curve(0.3, 0.5 + n / 1000) for n in range(8)}
    data = ladder_data(make_ladder(close, blocks=1))
    places = sorted(name.accuracy for name in (*data.names, *data.floor_names))
    assert len(places) == 9
    assert all(upper - lower >= 0.0499 * data.top for lower, upper in pairwise(places))
    assert [name.name for name in sorted(data.names, key=lambda name: name.accuracy)] == list(close)
    assert max(places) <= data.top


def test_names_that_would_leave_the_top_move_down():
    assert spread_out([1, 2, 99, 99], 5, 100) == [1, 6, 95, 100]


def test_of_many_rules_the_legend_has_the_names():
    many = make_ladder({f"rule {n}": curve(0.3, 0.5) for n in range(9)}, blocks=1)
    assert ladder_data(many).names == ()
    legends = [
        layer["encoding"]["color"]["legend"]
        for layer in draw_ladders([many]).drawing["concat"][0]["layer"]
        if "scale" in layer["encoding"].get("color", {})
    ]
    assert legends
    assert all(legend["values"] == list(many.rules) for legend in legends)


def test_an_interval_beyond_what_there_is_does_not_stretch_the_axis():
    study = make_study(make_run(accuracy=0.95), make_run(seed=2, accuracy=0.99))
    assert ladder_data(study.ladder()).top == 103


def test_a_study_without_finished_runs_has_no_ladder():
    study = make_study(make_run(accuracy=None, state="running"))
    assert "no finished runs" in (ladder.reason_missing(study) or "")


# The drawing


def test_curves_signs_and_bars_are_drawn_where_the_data_are():
    data = ladder_data(trained_study().ladder())
    drawn = marks(ladder.draw(trained_study()))
    means = {
        rule: [(p.place, p.accuracy) for p in data.means if p.rule == rule]
        for rule in ("bp", "dfa")
    }
    for found, points in zip(lines(drawn), means.values(), strict=True):
        assert found == [pytest.approx(point) for point in points]
    ends = [(p.low, p.high) for p in data.means if p.low is not None]
    bars = [mark for mark in drawn if mark.rows == "means" and mark.kind == "rule"]
    assert [(bar.points[0][1]) for bar in bars] == pytest.approx([low for low, _ in ends])
    twins = [mark for mark in drawn if mark.rows == "twins"]
    assert [mark.points[0] for mark in twins] == [
        pytest.approx((p.place, p.accuracy)) for p in data.twins
    ]
    assert [(mark.says, mark.run) for mark in twins] == [(p.says, p.run) for p in data.twins]
    style = rule_styles(["bp", "dfa"])["bp"]
    for twin in twins:
        assert twin.colour == with_light_colours(style.colour)
        assert (twin.style["fill"], twin.style["shape"]) == ("#ffffff", style.outline)


def test_what_signs_mean_is_said_if_they_are_there():
    def note(drawn: Figure) -> str:
        return drawn.panels[0].note

    assert note(draw_ladders([LADDER])) == "dotted: all blocks frozen · ✕: diverged or failed"
    assert "hollow: added block on noise" in note(ladder.draw(trained_study()))
    assert note(ladder.draw(make_study(make_run("bp"), chance=None))) == ""


def test_a_rule_keeps_its_style_whether_or_not_others_are_left_out():
    study = make_study(make_run("odd", state="waiting"), make_run("own"))
    style = rule_styles(list(study))["own"]
    assert style != rule_styles(["own"])["own"]
    (mark,) = (m for m in marks(ladder.draw(study)) if m.rows == "means" and m.kind == "symbol")
    assert mark.colour == with_light_colours(style.colour)
    assert mark.style["shape"] == style.outline


def test_one_panel_for_each_ladder_with_its_own_chance_on_one_axis():
    figure = draw_ladders([LADDER, OTHER])
    first, second = (panel.rows for panel in figure.panels)
    assert [line.accuracy for rows in (first, second) for line in rows["floors"]] == [12.5, 50]
    assert {point.rule for point in first["means"]} == {"bp", "dfa"}
    assert {point.rule for point in second["means"]} == {"fa", "bp"}
    tops = {
        tuple(layer["encoding"]["y"]["scale"]["domain"])
        for panel in figure.drawing["concat"]
        for layer in panel["layer"]
    }
    assert len(tops) == 1
    assert 90 < tops.pop()[1] < 110


def test_a_rule_keeps_its_style_over_the_panels_and_no_two_share_one():
    drawn = marks(draw_ladders([LADDER, OTHER]))
    signs = [mark for mark in drawn if mark.rows == "means" and mark.kind == "symbol"]
    styles: dict[str, set[tuple[str, str]]] = {}
    for sign in signs:
        rule = sign.says.partition(",")[0]
        styles.setdefault(rule, set()).add((sign.colour, sign.style["shape"]))
    assert sorted(styles) == ["bp", "dfa", "fa"]
    assert all(len(own) == 1 for own in styles.values())
    assert len(set.union(*styles.values())) == 3


def test_a_rule_alone_keeps_its_signs_and_the_lines_across():
    study = trained_study()
    every, alone = marks(ladder.draw(study)), marks(ladder.draw(study), alone="dfa")
    dfa = with_light_colours(rule_styles(["bp", "dfa"])["dfa"].colour)
    for rows in ("means", "seeds", "names", "frozen"):
        kept = [mark for mark in every if mark.rows == rows and mark.colour == dfa]
        assert kept
        assert [mark for mark in alone if mark.rows == rows] == kept
    assert [mark for mark in alone if mark.rows == "twins"] == []
    assert len([mark for mark in alone if mark.rows == "floors"]) == 1
