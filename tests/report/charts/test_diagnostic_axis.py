"""The axis of a diagnostic: which there are, and how far each reaches."""

from __future__ import annotations

import math

import pytest
from report.studies import make_audit, make_network, make_run, make_study

from depthgauge.report.charts.diagnostic_axis import DiagnosticAxis, axes_to_draw
from depthgauge.results.study import StudyResult
from depthgauge.verdict.thresholds import Thresholds


def axes_of(study: StudyResult) -> dict[str, DiagnosticAxis]:
    axes = axes_to_draw(list(study.rules.values()), study.thresholds)
    return {axis.diagnostic.id: axis for axis in axes}


def read(*networks, **parts) -> tuple[dict[str, DiagnosticAxis], StudyResult]:
    """Return the axes of an audit of these networks, and the study."""
    study = make_study(audit=make_audit(*networks, **parts))
    return axes_of(study), study


def growths(*values: float, label: str = "x"):
    return [make_network(label, seed, growth=growth) for seed, growth in enumerate(values, 1)]


def test_each_diagnostic_has_its_threshold_and_its_bad_side():
    axes, _ = read(make_network())
    facts = {id: (axis.threshold, axis.bad, axis.log) for id, axis in axes.items()}
    assert facts == {
        "D1": (50, "above", True),
        "D2": (1.28e-5, "below", True),
        "D2s": (0.3, "above", False),
        "D3": (2, "below", False),
    }
    assert axes["D3"].title == ["accuracy − frozen (points)", "fires below 2"]
    assert axes["D2"].title[1] == "low below 1.28×10⁻⁵"


def test_thresholds_are_those_of_the_audit():
    axes, _ = read(make_network(), thresholds=Thresholds(growth=7.0))
    assert axes["D1"].threshold == 7


def test_readings_that_nobody_took_have_no_axis():
    study = make_study(make_run("x", k=2), make_run("x", k=0, accuracy=0.2))
    assert list(axes_of(study)) == ["D1", "D2", "D3"]


def test_where_depth_does_not_apply_there_is_no_threshold():
    axes, _ = read(make_network(), bp_gain=0.001)
    assert axes["D3"].threshold is None
    assert axes["D3"].title[1] == "no rule is judged by it here"


def test_gains_are_in_points():
    axes, study = read(make_network(accuracy=0.75, frozen=0.5))
    assert axes["D3"].values(study["bp"]) == [pytest.approx(25)]


def test_intervals_are_those_of_the_diagnostics():
    networks = [
        make_network("x", seed, growth=growth, accuracy=0.5 + seed / 100)
        for seed, growth in ((1, 9.0), (2, 9.1), (3, 9.2))
    ]
    axes, study = read(*networks)
    d1, _, d3 = study["x"].findings
    growth, gain = d1.intervals["growth"], d3.intervals["depth_gain"]
    assert axes["D1"].interval(study["x"]) == (growth.low, growth.high)
    assert axes["D3"].interval(study["x"]) == pytest.approx((100 * gain.low, 100 * gain.high))


def test_one_seed_has_no_interval():
    axes, study = read(make_network())
    assert axes["D1"].interval(study["bp"]) is None


def test_an_interval_too_wide_to_mean_anything_is_none_unless_it_settles_the_question():
    for values, is_known in [((1.0, 40.0), False), ((1e20, 2e20), True)]:
        axes, study = read(*growths(*values))
        assert (axes["D1"].interval(study["x"]) is not None) is is_known


def test_the_axis_holds_seeds_and_threshold_and_is_not_stretched_by_an_interval():
    axes, study = read(*growths(6.0, 12.0, 40.0))
    low, high = axes["D1"].span(study.rules.values()).ends
    assert low < 6
    assert 50 < high < 1e4
    start, end = axes["D1"].interval(study["x"])
    assert start < low
    assert end > high


def test_a_linear_axis_has_a_least_width_in_points():
    axes, study = read(make_network(accuracy=0.52, frozen=0.5))
    assert axes["D3"].span(study.rules.values()).width >= 10


@pytest.mark.parametrize(
    ("readings", "words"),
    [
        ([{"gradient": 0.0}, {"gradient": 0.2}], "1 at 0"),
        ([{"gradient": 0.0}], "at 0"),
        ([{"gradient": 0.1}], ""),
        ([{"accuracy": None}, {}], "1 diverged"),
        ([{"accuracy": None}], "diverged"),
    ],
)
def test_what_became_of_networks_without_a_place(readings, words):
    axes, study = read(*(make_network("x", seed, **one) for seed, one in enumerate(readings)))
    assert axes["D2"].fate(study["x"]) == words


def test_a_growth_without_bound_is_said_to_be_at_infinity():
    axes, study = read(make_network("x", growth=math.inf), make_network("y"))
    assert axes["D1"].fate(study["x"]) == "at ∞"


def test_a_reading_that_is_lacking_is_said():
    axes, study = read(make_network("x", stability=None), make_network("y"))
    assert axes["D2s"].fate(study["x"]) == "not read"


def test_words_have_room_on_the_bad_side():
    plain, study = read(make_network("x"))
    lost, with_lost = read(make_network("x"), make_network("y", accuracy=None))
    for id, side in (("D1", 1), ("D2", 0)):
        narrow = plain[id].span(study.rules.values())
        wide = lost[id].span(with_lost.rules.values())
        assert wide.width == pytest.approx(narrow.width / 0.64)
        assert wide.ends[side] != pytest.approx(narrow.ends[side])
        assert wide.ends[1 - side] == pytest.approx(narrow.ends[1 - side])
