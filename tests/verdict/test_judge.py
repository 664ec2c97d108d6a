"""The published words, exactly as in the protocol."""

from __future__ import annotations

import math
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from verdict.simulated_seeds import DEGENERATE, HEALTHY, LIMITS, as_seeds, changed, studies, words

from depthgauge.diagnostics.contract import Readings
from depthgauge.diagnostics.intervals import MOST_SEEDS, seeds_to_settle
from depthgauge.errors import UserError
from depthgauge.verdict.judge import judge as judge_study
from depthgauge.verdict.thresholds import Thresholds

judge = partial(judge_study, protocol="published")

READINGS = ("growth", "gradient", "error_share")


def spread_out(seed: Readings, factors=(0.9, 1.0, 1.1)) -> list[Readings]:
    """The same network with every reading of D1 and D2 times each factor."""
    return [changed(seed, **{name: factor * seed[name] for name in READINGS}) for factor in factors]


def with_values(name: str, values: list[float], seed: Readings = HEALTHY) -> list[Readings]:
    return [changed(seed, **{name: value}) for value in values]


def diagnostic(name: str, seeds: list[Readings], **options):
    return next(d for d in judge(seeds, **options).findings if d.id == name)


def test_published_bp_is_trustworthy_and_published_dfa_is_walked_back_by_all_three():
    for n in [1, 2, 3, 10]:
        good, bad = judge([HEALTHY] * n), judge([DEGENERATE] * n)
        assert (good.word, good.fired) == ("trustworthy", ())
        assert (bad.word, bad.fired) == ("walk back", ("D1", "D2", "D3"))
        assert good.seeds == bad.seeds == n


def test_one_that_fires_is_enough_and_is_named():
    for change, fired in [
        ({"growth": 50.1}, ("D1",)),
        ({"growth": math.inf}, ("D1",)),
        ({"gradient": 1.27e-5, "error_share": 1.39e-5}, ("D2",)),
        ({"gradient": 0.0, "error_share": 0.0}, ("D2",)),
        ({"numerics": 0.989}, ("D2",)),
        ({"depth_gain": 0.0199}, ("D3",)),
        ({"growth": 694.0, "depth_gain": -0.04}, ("D1", "D3")),
    ]:
        for n in [1, 3]:
            verdict = judge([changed(HEALTHY, **change)] * n)
            assert (verdict.word, verdict.fired) == ("walk back", fired)


def test_a_reading_at_its_threshold_or_one_low_reading_of_two_does_not_fire():
    for change in [
        {"growth": 50.0},
        {"gradient": 1.28e-5, "error_share": 1.4e-5},
        {"gradient": 1e-9},
        {"error_share": 1e-9},
        {"numerics": 0.99},
        {"numerics": None},
        {"depth_gain": 0.02},
    ]:
        assert judge([changed(HEALTHY, **change)]).word == "trustworthy"


@given(st.floats(1e-3, 1e6))
def test_one_seed_exactly_at_the_threshold_of_growth_passes_whatever_it_is(threshold):
    seed = changed(HEALTHY, growth=threshold)
    assert judge([seed], Thresholds(growth=threshold)).word == "trustworthy"


@given(st.floats(1e-9, 1e-3))
def test_one_seed_exactly_at_both_floors_passes_whatever_they_are(floor):
    seed = changed(HEALTHY, gradient=floor, error_share=floor)
    assert judge([seed], Thresholds(gradient=floor, error_share=floor)).word == "trustworthy"


def test_a_confident_healthy_network_has_a_small_gradient_but_lets_the_error_through():
    confident = spread_out(changed(HEALTHY, gradient=1e-8))
    assert judge(confident).word == "trustworthy"
    assert judge(spread_out(changed(HEALTHY, gradient=1e-8, error_share=1e-8))).fired == ("D2",)


def test_a_gradient_that_is_numerically_wrong_in_every_seed_fires_d2_alone():
    verdict = judge(with_values("numerics", [0.5, 0.9, -0.1]))
    assert (verdict.word, verdict.fired) == ("walk back", ("D2",))
    assert "numerically wrong in 3 of 3 seeds" in verdict.findings[1].sentence


def test_a_gradient_that_is_numerically_wrong_in_some_seeds_is_unclear():
    for others in [None, 1.0]:
        verdict = judge(with_values("numerics", [0.5, others, others]))
        assert (verdict.word, verdict.unclear) == ("inconclusive", ("D2",))
        assert "numerically wrong in 1 of 3 seeds" in verdict.findings[1].sentence


def test_more_seeds_cannot_settle_numerics_that_differ_between_seeds():
    assert diagnostic("D2", with_values("numerics", [0.5, 1.0, 1.0])).more_seeds is None


def test_numerically_wrong_in_some_seeds_does_not_hide_that_both_readings_are_low():
    seeds = with_values("numerics", [0.5, 1.0, 1.0], changed(DEGENERATE, growth=1.0))
    assert "D2" in judge(seeds).fired


def test_where_no_share_of_the_error_was_recorded_a_gradient_that_is_not_low_passes():
    for n in [1, 3]:
        found = diagnostic("D2", with_values("error_share", [None] * n))
        assert (found.outcome, set(found.intervals)) == ("passes", {"gradient"})
        assert judge(with_values("error_share", [None] * n)).word == "trustworthy"


def test_where_no_share_of_the_error_was_recorded_a_low_gradient_cannot_be_told():
    """Not even if other seeds have it, and whatever the gradient's numerics."""
    for shares in [[None], [None, None], [5.9e-7, None]]:
        calm = changed(DEGENERATE, growth=1.0, depth_gain=0.2)
        found = diagnostic("D2", with_values("error_share", shares, calm))
        assert (found.outcome, found.more_seeds) == ("untested", None)
        assert "was not recorded" in found.sentence
        assert judge(with_values("error_share", shares, calm)).word == "no alarm, depth untested"
        assert judge(with_values("error_share", shares, DEGENERATE)).fired == ("D1", "D3")


def test_a_reading_that_no_diagnostic_asks_for_is_refused():
    with pytest.raises(UserError, match="no diagnostic reads 'grwth'; the readings are: growth"):
        judge([HEALTHY, {**HEALTHY, "grwth": 1.0}])


def test_without_a_frozen_baseline_depth_is_untested():
    verdict = judge(spread_out(changed(HEALTHY, depth_gain=None)))
    assert verdict.word == "no alarm, depth untested"
    assert verdict.findings[2].outcome == "untested"
    assert "not measured" in verdict.findings[2].sentence


def test_d3_is_not_applicable_where_bp_gains_less_than_two_points():
    for gain in [-0.04, 0.02, 0.3]:
        seeds = spread_out(changed(HEALTHY, depth_gain=gain))
        verdict = judge(seeds, bp_gain=0.0199)
        assert verdict.word == "no alarm, depth untested"
        assert "not applicable, backpropagation itself gains only 2.0" in str(verdict.findings[2])


def test_d3_applies_where_bp_gains_two_points_or_where_its_gain_is_not_known():
    for bp_gain in [None, 0.02, 0.226]:
        assert judge([changed(HEALTHY, depth_gain=0.0)] * 3, bp_gain=bp_gain).fired == ("D3",)


def test_the_other_diagnostics_still_fire_where_depth_is_untested():
    untested = changed(DEGENERATE, depth_gain=None)
    assert judge([untested] * 3).fired == ("D1", "D2")
    assert judge([DEGENERATE] * 3, bp_gain=0.0).fired == ("D1", "D2")


def test_one_clear_alarm_outweighs_what_is_unclear():
    seeds = with_values("depth_gain", [-0.1, 0.0, 0.1], changed(HEALTHY, growth=694.0))
    verdict = judge(seeds)
    assert (verdict.word, verdict.fired, verdict.unclear) == ("walk back", ("D1",), ("D3",))


def test_what_is_unclear_outweighs_what_is_untested():
    seeds = with_values("growth", [10.0, 60.0, 90.0], changed(HEALTHY, depth_gain=None))
    assert judge(seeds).word == "inconclusive"


def test_each_interval_is_at_a_third_of_the_error_rate():
    """Half widths at n = 3 and std 0.01: 0.0248 at 1 − 0.05, 0.0442 at 1 − 0.05/3."""
    for distance, finding in [(0.0248, "straddles"), (0.0442, "passes")]:
        gains = [0.02 + distance + 5e-5 + shift for shift in (-0.01, 0.0, 0.01)]
        assert diagnostic("D3", with_values("depth_gain", gains)).outcome == finding


def test_a_verdict_as_text():
    for seeds, said in [
        ([HEALTHY], "trustworthy (single seed)"),
        ([HEALTHY] * 3, "trustworthy"),
        ([DEGENERATE], "walk back (D1, D2, D3, single seed)"),
        ([DEGENERATE] * 3, "walk back (D1, D2, D3)"),
        ([changed(HEALTHY, growth=60.0)] * 2, "walk back (D1)"),
        ([changed(HEALTHY, depth_gain=None)], "no alarm, depth untested (single seed)"),
        ([changed(HEALTHY, depth_gain=None)] * 3, "no alarm, depth untested"),
        (
            with_values("depth_gain", [0.05, 0.07, 0.09]),
            "inconclusive (D3: about 1 more seed needed)",
        ),
        (
            with_values("depth_gain", [0.03, 0.05, 0.07]),
            "inconclusive (D3: about 3 more seeds needed)",
        ),
        (
            with_values("growth", [25.0, 50.0, 100.0]),
            "inconclusive (D1: many more seeds needed)",
        ),
        (
            [
                changed(HEALTHY, depth_gain=gain, growth=growth)
                for gain, growth in ((0.03, 10.0), (0.05, 25.0), (0.07, 62.5))
            ],
            "inconclusive (D1, D3: about 11 more seeds needed)",
        ),
    ]:
        assert str(judge(seeds)) == said


def test_one_frozen_baseline_among_several_seeds_is_marked_as_a_single_seed():
    seeds = [HEALTHY, *[changed(HEALTHY, depth_gain=None)] * 2]
    assert str(judge(seeds)) == "trustworthy (single seed)"
    assert judge(seeds).findings[2].intervals["depth_gain"].n == 1


def test_the_sentences_hold_the_readings_and_the_thresholds():
    for seed, parts in [
        (HEALTHY, ("1 times", "threshold 50", "0.047 (floor 1.28×10⁻⁵)", "+22.6 points")),
        (DEGENERATE, ("694 times", "5.4×10⁻⁷ (floor 1.28×10⁻⁵)", "−4.3 points", "threshold 2)")),
    ]:
        sentences = " ".join(d.sentence for d in judge([seed]).findings)
        assert all(part in sentences for part in parts)
        several = " ".join(d.sentence for d in judge(spread_out(seed)).findings)
        assert several.count("[") == 4


def test_how_many_more_seeds_d1_needs():
    for growths in [[20.0, 30.0, 60.0], [40.0, 90.0, 300.0]]:
        found = diagnostic("D1", with_values("growth", growths))
        assert found.outcome == "straddles"
        assert found.more_seeds == seeds_to_settle(growths, 50.0, 0.05 / 3, log=True) > 1


def around(center: float, log_spread: float, n: int) -> list[float]:
    """An even number of readings with this geometric mean and standard deviation of the log."""
    step = log_spread * math.sqrt((n - 1) / n)
    return [center * math.exp(sign * step) for sign in (-1, 1)] * (n // 2)


@pytest.mark.parametrize(
    ("gradient", "share"),
    [
        ((1.28e-5, 0.5), (1e-6, 0.1)),
        ((5e-6, 1.0), (1e-6, 0.1)),
        ((5e-6, 1.0), (8e-6, 1.0)),
        ((3e-5, 1.0), (1.2e-5, 0.5)),
        ((3e-5, 1.0), (2e-5, 0.8)),
    ],
    ids=[
        "gradient at its floor, share far below",
        "only the gradient unclear",
        "both just below",
        "gradient above, share just below",
        "both just above",
    ],
)
def test_as_many_more_seeds_as_are_said_settle_d2_and_two_fewer_do_not(gradient, share):
    """In steps of two, since lists of an even length can be made to any mean and spread."""

    def found(n: int):
        pairs = zip(around(*gradient, n), around(*share, n), strict=True)
        return diagnostic("D2", [changed(HEALTHY, gradient=g, error_share=s) for g, s in pairs])

    now = found(4)
    assert now.outcome == "straddles"
    if now.more_seeds is None:
        assert found(4 + MOST_SEEDS).outcome == "straddles"
    else:
        even = now.more_seeds + now.more_seeds % 2
        assert found(4 + even).outcome != "straddles"
        assert found(4 + even - 2).outcome == "straddles"


def test_a_seed_without_any_gradient_does_not_count_as_a_healthy_one():
    """One with a gradient of 1e-300 makes D2 unclear; none at all cannot be better."""
    for dead in [1, 2]:
        for tiny in (1e-300, 0.0):
            seeds = [changed(HEALTHY, gradient=tiny, error_share=tiny)] * dead
            assert diagnostic("D2", seeds + [HEALTHY] * (3 - dead)).outcome != "passes", tiny


def test_a_seed_whose_stream_grows_without_bound_does_not_count_as_a_healthy_one():
    for burst in [1, 2]:
        for huge in (1e300, math.inf):
            seeds = [changed(HEALTHY, growth=huge)] * burst + [HEALTHY] * (3 - burst)
            assert diagnostic("D1", seeds).outcome != "passes", huge


def test_a_dead_seed_does_not_hide_that_the_others_have_no_gradient_either():
    dead = changed(HEALTHY, gradient=0.0, error_share=0.0)
    low = spread_out(changed(HEALTHY, gradient=1e-8, error_share=1e-8))
    assert judge([dead, *low]).fired == ("D2",)


@settings(max_examples=300)
@given(studies(most_seeds=1), st.none() | st.floats(0, 0.1))
def test_one_seed_gives_the_word_of_its_point_values_and_is_never_inconclusive(study, bp_gain):
    (seed,) = as_seeds(study)
    low = seed["gradient"] < LIMITS["gradient"] and seed["error_share"] < LIMITS["error_share"]
    tested = seed.get("depth_gain") is not None and (bp_gain is None or bp_gain >= 0.02)
    idle = tested and seed["depth_gain"] < LIMITS["depth_gain"]
    word = "trustworthy" if tested else "no alarm, depth untested"
    if seed["growth"] > LIMITS["growth"] or low or idle:
        word = "walk back"
    assert judge([seed], bp_gain=bp_gain).word == word
    assert judge([seed], bp_gain=bp_gain).single_seed


@given(studies(least_seeds=2), st.none() | st.floats(0, 0.1))
def test_several_seeds_give_the_word_of_a_second_implementation(study, bp_gain):
    assert judge(as_seeds(study), bp_gain=bp_gain).word == words(study, bp_gain=bp_gain)[0]


@given(
    studies(least_seeds=2).flatmap(lambda s: st.tuples(st.just(s), st.permutations(as_seeds(s))))
)
def test_the_order_of_seeds_is_irrelevant(study_and_permutation):
    study, permuted = study_and_permutation
    assert judge(permuted) == judge(as_seeds(study))


@given(
    st.sampled_from([HEALTHY, DEGENERATE]),
    st.lists(st.floats(0.8, 1.25), min_size=3, max_size=5),
    st.tuples(*[st.floats(0.5, 2.0)] * 3),
)
def test_far_from_the_thresholds_scaling_never_changes_the_word(seed, factors, scales):
    seeds = spread_out(seed, factors)
    scaled = [
        changed(s, **{n: c * s[n] for n, c in zip(READINGS, scales, strict=True)}) for s in seeds
    ]
    assert judge(scaled).word == judge(seeds).word
    assert judge(scaled).word == ("trustworthy" if seed is HEALTHY else "walk back")
