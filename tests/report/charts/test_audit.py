"""The audit: what its panels show, and how they are drawn."""

from __future__ import annotations

import pytest
from report.charts.drawn import marks
from report.studies import make_audit, make_network, make_run, make_study

from depthgauge.report.charts import audit
from depthgauge.report.charts.audit import AuditData, audit_data
from depthgauge.report.charts.colours import LIGHT, with_light_colours
from depthgauge.report.charts.diagnostic_axis import axes_to_draw
from depthgauge.report.charts.rule_styles import rule_styles
from depthgauge.results.study import StudyResult

TITLES = ["D1 scale", "D2 reference", "D2s stability", "D3 depth utility"]

GOOD_AND_BAD = (
    make_network("bad", growth=900.0, gradient=1e-6, stability=0.5, accuracy=0.41),
    make_network("good", growth=1.2, gradient=0.3, stability=-0.1, accuracy=0.6),
)


def audited(*networks, bp_gain=0.3) -> StudyResult:
    return make_study(audit=make_audit(*networks, bp_gain=bp_gain))


def data_of(study: StudyResult) -> dict[str, AuditData]:
    rules = list(study.rules.values())
    return {
        axis.diagnostic.id: audit_data(axis, rules)
        for axis in axes_to_draw(rules, study.thresholds)
    }


def test_each_reading_has_a_panel():
    assert [panel.title for panel in audit.draw(audited(*GOOD_AND_BAD)).panels] == TITLES


def test_the_bad_side_reaches_from_the_threshold_to_the_end_of_the_axis():
    for id, data in data_of(audited(*GOOD_AND_BAD)).items():
        (limit,) = data.limits
        low, high = data.span.ends
        is_above = id in ("D1", "D2s")
        assert (limit.low, limit.high) == ((limit.value, high) if is_above else (low, limit.value))


def test_where_depth_does_not_apply_nothing_is_shaded():
    assert data_of(audited(make_network(), bp_gain=0.001))["D3"].limits == ()


def test_the_best_rule_is_first_in_every_panel():
    for data in data_of(audited(*GOOD_AND_BAD)).values():
        assert data.labels == ("good", "bad")


def test_every_panel_has_an_order_of_its_own_and_those_without_a_reading_come_last():
    data = data_of(
        audited(
            make_network("lost", accuracy=None),
            make_network("a", growth=2.0, gradient=1e-3),
            make_network("b", growth=1.0, gradient=1e-4),
        )
    )
    assert data["D1"].labels == ("b", "a", "lost")
    assert data["D2"].labels == ("a", "b", "lost")


def test_every_seed_has_its_value_and_says_it():
    data = data_of(audited(make_network("x", 1, growth=2.0), make_network("x", 2, growth=8.0)))
    assert [(seed.value, seed.says) for seed in data["D1"].seeds] == [
        (2, "x, seed 1: 2 times"),
        (8, "x, seed 2: 8 times"),
    ]


def test_a_sign_leads_to_the_run_of_its_network():
    study = make_study(make_run("x", 3))
    (seed,) = data_of(study)["D1"].seeds
    assert seed.run == study.runs[0].identity


def test_a_bar_ends_where_the_axis_does_and_an_arrow_says_that_it_goes_on():
    networks = [make_network("x", seed, growth=g) for seed, g in enumerate((6.0, 12.0, 40.0))]
    data = data_of(audited(*networks))["D1"]
    (bar,) = data.intervals
    assert (bar.low, bar.high) == data.span.ends
    assert [(arrow.value, arrow.sign) for arrow in data.arrows] == [
        (bar.low, "◂"),
        (bar.high, "▸"),
    ]
    assert "over seeds" in bar.says


def test_a_bar_inside_the_axis_has_no_arrows():
    networks = [make_network("x", seed, growth=9 + seed / 10) for seed in (1, 2, 3)]
    data = data_of(audited(*networks))["D1"]
    assert len(data.intervals) == 1
    assert data.arrows == ()


def test_networks_that_diverged_are_marked_on_the_bad_side_of_every_panel():
    lost = [make_network("x", 2, None), make_network("y", 1, None)]
    for id, data in data_of(audited(make_network("x", 1), *lost)).items():
        assert [(fate.rule, fate.words) for fate in data.fates] == [
            ("x", "✕ 1 diverged"),
            ("y", "✕ diverged"),
        ]
        edge = data.span.ends[1 if id in ("D1", "D2s") else 0]
        assert {fate.value for fate in data.fates} == {edge}


def test_a_diverged_run_of_a_study_without_an_audit_is_marked():
    data = data_of(make_study(make_run("x", accuracy=None), make_run("bp")))
    assert {id: [fate.words for fate in one.fates] for id, one in data.items()} == {
        "D1": ["✕ diverged"],
        "D2": ["✕ diverged"],
    }


def test_a_reading_without_a_place_on_the_axis_has_no_sign():
    data = data_of(audited(make_network("x", 1, gradient=0.0), make_network("x", 2, gradient=0.2)))
    assert [seed.value for seed in data["D2"].seeds] == [0.2]
    assert [fate.words for fate in data["D2"].fates] == ["✕ 1 at 0"]


def test_a_study_whose_networks_are_not_finished_has_nothing_to_draw():
    study = make_study(make_run(state="running", accuracy=None))
    assert "no finished run" in (audit.reason_missing(study) or "")
    assert audit.draw(study).panels == []


# The drawing


def test_a_seed_is_drawn_at_its_value_in_the_style_of_its_rule():
    study = audited(
        make_network("bp"), make_network("x", 1, growth=2.0), make_network("x", 2, growth=8.0)
    )
    style = rule_styles(["bp", "x"])["x"]
    found = [
        mark
        for mark in marks(audit.draw(study))
        if (mark.panel, mark.rows) == ("D1 scale", "seeds") and mark.says.startswith("x,")
    ]
    assert [mark.points[0][0] for mark in found] == pytest.approx([2, 8])
    for mark in found:
        assert mark.style["fill"] == with_light_colours(style.colour)
        assert mark.style["shape"] == style.outline


def test_the_side_on_which_it_fires_is_shaded_over_all_rules():
    drawn = marks(audit.draw(audited(*GOOD_AND_BAD)))
    sides = [mark for mark in drawn if mark.rows == "limits" and mark.kind == "rect"]
    assert [mark.panel for mark in sides] == TITLES
    assert {mark.colour for mark in sides} == {LIGHT["bad-side"]}
    thresholds = [mark for mark in drawn if mark.rows == "limits" and mark.kind == "rule"]
    assert [mark.points[0][0] for mark in thresholds] == pytest.approx([50, 1.28e-5, 0.3, 2])


def test_a_rule_alone_keeps_its_row_and_the_threshold():
    study = audited(*GOOD_AND_BAD, make_network("lost", accuracy=None))
    every, alone = marks(audit.draw(study)), marks(audit.draw(study), alone="bad")
    seeds = [mark for mark in every if mark.rows == "seeds" and mark.says.startswith("bad,")]
    assert len(seeds) == len(TITLES)
    assert [mark for mark in alone if mark.rows == "seeds"] == seeds
    assert not [mark for mark in alone if mark.rows == "fates"]
    limits = [mark for mark in every if mark.rows == "limits"]
    assert [mark for mark in alone if mark.rows == "limits"] == limits
