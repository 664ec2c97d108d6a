"""The diagnostics of the package: their declarations, and their findings on the same networks."""

from __future__ import annotations

import math

from depthgauge.diagnostics.contract import Diagnostic
from depthgauge.diagnostics.depth_utility import DEPTH_UTILITY, GAIN
from depthgauge.diagnostics.finding import Finding
from depthgauge.diagnostics.intervals import Interval
from depthgauge.diagnostics.readings import diverged_readings, epoch_readings
from depthgauge.diagnostics.reference import GRADIENT, REFERENCE
from depthgauge.diagnostics.registry import diagnostics, verdict_diagnostics
from depthgauge.diagnostics.scale import GROWTH, SCALE
from depthgauge.diagnostics.stability import STABILITY
from depthgauge.verdict.judge import judge
from depthgauge.verdict.thresholds import Thresholds

HEALTHY = {
    "growth": 1.0,
    "gradient": 0.05,
    "error_share": 0.05,
    "numerics": 1.0,
    "stability": 0.1,
    "depth_gain": 0.2,
}
DEGENERATE = {
    "growth": 694.0,
    "gradient": 5e-7,
    "error_share": 5e-7,
    "numerics": 0.5,
    "stability": 0.9,
    "depth_gain": -0.04,
}
BLOCKS_CHANGE = "training the blocks changes accuracy by"


def test_the_diagnostics_have_this_order_and_stability_does_not_count():
    assert [diagnostic.name for diagnostic in diagnostics()] == [
        "D1 scale",
        "D2 reference",
        "D2s stability",
        "D3 depth utility",
    ]
    assert [diagnostic.id for diagnostic in verdict_diagnostics()] == ["D1", "D2", "D3"]


def test_columns_charts_and_thresholds_are_of_its_own_quantities():
    for diagnostic in diagnostics():
        assert {threshold.quantity for threshold in diagnostic.thresholds} <= set(
            diagnostic.quantities
        )
        assert {column.quantity for column in diagnostic.columns} <= set(diagnostic.quantities)
        assert diagnostic.chart is not None
        assert diagnostic.chart.threshold in diagnostic.thresholds


def found_by(diagnostic: Diagnostic, readings: dict[str, float | None]) -> Finding:
    verdict = judge([readings])
    return next(f for f in (*verdict.findings, *verdict.besides) if f.id == diagnostic.id)


def test_the_side_that_it_declares_as_bad_is_the_one_on_which_it_fires():
    for diagnostic in diagnostics():
        for threshold in diagnostic.thresholds:
            bad, limit = DEGENERATE[threshold.quantity.name], Thresholds()[threshold.name]
            assert (bad > limit) == (threshold.fires == "above")
        bad, good = found_by(diagnostic, DEGENERATE), found_by(diagnostic, HEALTHY)
        assert (bad.outcome, bad.fires, bad.passes) == ("fires", True, False)
        assert (good.outcome, good.fires, good.passes) == ("passes", False, True)


def test_a_diagnostic_without_readings_is_untested_and_says_so():
    for diagnostic in diagnostics():
        found = found_by(diagnostic, {})
        assert (found.untested, found.intervals) == (True, {})
        assert "not measured" in found.sentence
        assert diagnostic.in_words(found)


def test_a_network_that_diverged_has_grown_without_bound_and_has_no_gradient():
    assert diverged_readings() == {
        "growth": math.inf,
        "norm_pinned": None,
        "gradient": 0.0,
        "error_share": 0.0,
        "numerics": None,
        "stability": None,
        "depth_gain": None,
        "depth_gain_noise": None,
    }


def test_a_line_of_metrics_without_norms_gives_no_readings():
    unread = dict.fromkeys(("growth", "gradient", "error_share"))
    assert epoch_readings({"epoch": 0, "diverged": False}) == unread


def test_a_finding_in_words_for_a_newcomer():
    for diagnostic, change, words in [
        (SCALE, {}, "its activations keep their scale"),
        (
            SCALE,
            {"norm_pinned": 1.0},
            "the network pins the norm of its activations, so D1 says nothing",
        ),
        (
            SCALE,
            {"growth": 1234.0},
            "one block multiplies the activations by 1,230 and drowns the blocks before it",
        ),
        (REFERENCE, {}, "the gradient arrives"),
        (
            REFERENCE,
            {"gradient": 1e-8, "error_share": 1e-8},
            "the gradient has vanished: 1×10⁻⁸ at the top",
        ),
        (
            REFERENCE,
            {"numerics": 0.5},
            "the gradient at the top is numerically wrong in every seed: 0.05",
        ),
        (
            REFERENCE,
            {"gradient": 1e-8, "error_share": None},
            "too little was recorded to say whether the gradient arrives",
        ),
        (STABILITY, {}, "batches do not share one drift"),
        (
            STABILITY,
            {"stability": 0.5},
            "batches share one drift: their gradients have a cosine of 0.5",
        ),
        (DEPTH_UTILITY, {}, f"{BLOCKS_CHANGE} +20.0 points"),
        (DEPTH_UTILITY, {"depth_gain": -0.04}, f"{BLOCKS_CHANGE} −4.0 points: no gain"),
        (DEPTH_UTILITY, {"depth_gain": 0.01}, f"{BLOCKS_CHANGE} +1.0 points: too little"),
        (
            DEPTH_UTILITY,
            {"depth_gain": None},
            "the accuracy gained by training its blocks was not measured",
        ),
    ]:
        assert diagnostic.in_words(found_by(diagnostic, HEALTHY | change)) == words


def test_what_straddles_is_said_to_be_open():
    for diagnostic, name, values, words in [
        (SCALE, "growth", (10.0, 60.0), "one block may multiply the activations by 24.5 ["),
        (STABILITY, "stability", (0.2, 0.5), "batches may share one drift: "),
        (DEPTH_UTILITY, "depth_gain", (0.01, 0.03), f"{BLOCKS_CHANGE} +2.0 [−"),
    ]:
        verdict = judge([HEALTHY | {name: value} for value in values])
        found = next(f for f in (*verdict.findings, *verdict.besides) if f.id == diagnostic.id)
        assert found.straddles
        assert diagnostic.in_words(found).startswith(words)


def test_in_how_many_seeds_the_gradient_is_numerically_wrong_is_a_fact_of_the_finding():
    for wrong, seeds in [(0, 3), (1, 3), (3, 3)]:
        networks = [HEALTHY | {"numerics": 0.5 if seed < wrong else 1.0} for seed in range(seeds)]
        found = next(f for f in judge(networks).findings if f.id == REFERENCE.id)
        assert found.facts == {"numerically_wrong": wrong, "seeds": seeds}


def test_how_a_networks_value_is_shown():
    for quantity, value, text in [
        (GROWTH, None, "–"),
        (GROWTH, math.inf, "∞"),
        (GROWTH, 694.2, "694"),
        (GROWTH, 12_345.0, "12,300"),
        (GRADIENT, 5.4e-7, "5.4×10⁻⁷"),
        (GAIN, 0.226, "+22.6"),
        (GAIN, -0.043, "−4.3"),
    ]:
        assert quantity.show(value) == text


def test_how_an_interval_is_shown():
    assert GAIN.show_interval(Interval(-0.01, 0.02, 0.05, 3)) == "+2.0 [−1.0, +5.0]"
    assert GAIN.show_interval(Interval(0.02, 0.02, 0.02, 1)) == "+2.0"


def test_the_condition_of_a_threshold_is_in_the_unit_that_is_shown():
    shown = {t.name: t.fires_if(Thresholds()[t.name]) for d in diagnostics() for t in d.thresholds}
    assert (shown["growth"], shown["gradient"], shown["depth_gain"]) == (
        "> 50",
        "< 1.28e-05",
        "< 2",
    )
