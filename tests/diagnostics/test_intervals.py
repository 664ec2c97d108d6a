"""Intervals over seeds, compared with scipy and with constructed readings."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from depthgauge.diagnostics.depth_utility import GAIN
from depthgauge.diagnostics.intervals import (
    MOST_SEEDS,
    Interval,
    interval,
    interval_with_noise,
    seeds_to_settle,
)
from depthgauge.diagnostics.reference import GRADIENT
from depthgauge.diagnostics.scale import GROWTH
from depthgauge.diagnostics.stability import COSINE
from depthgauge.verdict.judge import judge

RATE = 0.05 / 3
several = st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=12)
positive = st.lists(st.floats(1e-30, 1e30), min_size=2, max_size=12)
rates = st.floats(0.001, 0.5)


def by_scipy(values: list[float], rate: float) -> tuple[float, float]:
    scale = stats.sem(values)
    return stats.t.interval(1 - rate, len(values) - 1, loc=np.mean(values), scale=scale)


def lookalikes(values: list[float], n: int) -> list[float]:
    """Return n readings with the same mean and sample standard deviation."""
    center, spread = statistics.fmean(values), statistics.stdev(values)
    pairs, odd = divmod(n, 2)
    step = spread if odd else spread * math.sqrt((n - 1) / n)
    return [center - step] * pairs + [center] * odd + [center + step] * pairs


@given(several, rates)
def test_it_is_the_t_interval(values, rate):
    assume(np.std(values) > 1e-6)
    ours, (low, high) = interval(values, rate), by_scipy(values, rate)
    assert (ours.low, ours.high) == pytest.approx((low, high), rel=1e-9, abs=1e-9)
    assert ours.center == pytest.approx(np.mean(values), rel=1e-12, abs=1e-9)
    assert ours.n == len(values)


@given(positive, rates)
def test_on_the_log_it_is_the_exponential_of_the_t_interval_of_the_logs(values, rate):
    assume(np.std(np.log(values)) > 1e-6)
    ours, (low, high) = interval(values, rate, log=True), by_scipy(np.log(values), rate)
    assert ours.center == pytest.approx(stats.gmean(values), rel=1e-9)
    with np.errstate(over="ignore"):
        expected = np.exp(low), np.exp(high)
    assert (ours.low, ours.high) == pytest.approx(expected, rel=1e-6)


def test_three_seeds_by_the_closed_form_of_students_t_with_two_degrees_of_freedom():
    confidence = 1 - RATE
    quantile = confidence * math.sqrt(2 / (1 - confidence**2))
    assert quantile == pytest.approx(7.65, abs=0.005)
    half = quantile / math.sqrt(3)
    ours = interval([1.0, 2.0, 3.0], RATE)
    assert (ours.low, ours.center, ours.high) == pytest.approx((2 - half, 2, 2 + half), rel=1e-9)


@given(st.floats(1e-30, 1e30), st.booleans())
def test_one_reading_is_its_own_interval(value, log):
    assert interval([value], RATE, log) == Interval(value, value, value, 1)


@given(positive, st.booleans())
def test_the_order_of_readings_is_irrelevant(values, log):
    assert interval(values, RATE, log) == interval(values[::-1], RATE, log)


@given(several, rates, rates)
def test_a_smaller_error_rate_gives_a_wider_interval(values, one, other):
    assume(np.std(values) > 1e-6)
    assume(abs(one - other) > 1e-6)
    strict, lax = interval(values, min(one, other)), interval(values, max(one, other))
    assert strict.low < lax.low < lax.high < strict.high


def test_readings_without_a_logarithm_are_their_own_interval():
    for value in [0.0, math.inf]:
        for n in [1, 3]:
            assert interval([value] * n, RATE, log=True) == Interval(value, value, value, n)


def test_a_zero_adds_no_confidence():
    found, others = (interval(v, RATE, log=True) for v in ([0.0, 1e-9, 2e-9], [1e-9, 2e-9]))
    assert (found.low, found.high) == (0.0, pytest.approx(others.high))


def test_an_infinity_adds_no_confidence():
    found, others = (interval(v, RATE, log=True) for v in ([math.inf, 1e9, 2e9], [1e9, 2e9]))
    assert (found.low, found.high) == (pytest.approx(others.low), math.inf)


def test_one_living_seed_beside_dead_seeds_gives_an_unbounded_interval():
    for dead in [0.0, math.inf]:
        found = interval([dead, 51.0, dead], RATE, log=True)
        assert (found.low, found.high, found.n) == (0.0, math.inf, 3)


def test_an_upper_end_beyond_floating_point_is_infinite():
    wide = interval([1e-300, 1e300], RATE, log=True)
    assert (wide.low, wide.high) == (0.0, math.inf)
    assert wide.center == pytest.approx(1.0)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=6), st.floats(-0.5, 1.5), rates)
def test_seeds_to_settle_is_the_least_number_of_similar_seeds_that_settles(values, threshold, rate):
    assume(np.std(values) > 1e-3)

    def settles(more: int) -> bool:
        found = interval(lookalikes(values, len(values) + more), rate)
        return found.high < threshold or found.low >= threshold

    fewest = next((more for more in range(1, MOST_SEEDS + 1) if settles(more)), None)
    assert seeds_to_settle(values, threshold, rate) == fewest


@given(st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=6), st.floats(1e-3, 1e3))
def test_on_the_log_seeds_to_settle_takes_logarithms(values, threshold):
    logs = [math.log(value) for value in values]
    expected = seeds_to_settle(logs, math.log(threshold), RATE)
    assert seeds_to_settle(values, threshold, RATE, log=True) == expected


def test_seeds_to_settle_is_none_where_no_number_can_be_given():
    for values, log in [
        ([0.5], False),
        ([0.5], True),
        ([0.0, 3.0], True),
        ([1.0, 3.0], False),
        ([2.0, 2.0], False),
    ]:
        assert seeds_to_settle(values, 2.0, RATE, log) is None


def test_too_wide_an_interval_is_written_as_too_few_seeds():
    """Seen with two seeds: [8.83e-07, 5.77e+08]."""
    seen = Interval(8.83e-7, 22.6, 5.77e8, 2)
    assert GROWTH.show_interval(seen) == "22.6 [too few seeds]"
    for quantity, center, half, shown in [
        (GROWTH, 10.0, 99.0, "10 [0.101, 990]"),
        (GROWTH, 10.0, 101.0, "10 [too few seeds]"),
        (GRADIENT, 1e-3, 99.0, "0.001 [1.01×10⁻⁵, 0.099]"),
        (GRADIENT, 1e-3, 101.0, "0.001 [too few seeds]"),
    ]:
        found = Interval(center / half, center, center * half, 3)
        assert quantity.show_interval(found) == shown
    for quantity, center, half, shown in [
        (GAIN, 0.2, 0.49, "+20.0 [−29.0, +69.0]"),
        (GAIN, 0.2, 0.51, "+20.0 [too few seeds]"),
        (COSINE, 0.2, 0.49, "0.2 [−0.29, 0.69]"),
        (COSINE, 0.2, 0.51, "0.2 [too few seeds]"),
    ]:
        found = Interval(center - half, center, center + half, 3)
        assert quantity.show_interval(found) == shown


def test_one_seed_and_dead_seeds_are_not_too_few():
    """An end that comes from a dead seed does not mean that too little is known."""
    for readings, shown in [
        ([22.6], "22.6"),
        ([3.0, 3.1, 2.9, math.inf], "3 [2.83, ∞]"),
        ([3.0, 3.1, 2.9, 0.0], "3 [0, 3.17]"),
        ([math.inf, math.inf], "∞ [∞, ∞]"),
        ([0.0, 0.0], "0 [0, 0]"),
        ([3.0, math.inf], "3 [too few seeds]"),
        ([1e-200, 1e200], "1 [too few seeds]"),
    ]:
        assert GROWTH.show_interval(interval(readings, 0.1, log=True)) == shown


HEALTHY = {"growth": 1.0, "gradient": 1.0, "error_share": 1.0, "numerics": 1.0, "depth_gain": 0.2}


def test_a_finding_says_too_few_seeds_unless_its_interval_settles_the_question():
    for growths, outcome, sentence in [
        ((1.0, 500.0), "straddles", "grows 22.4 [too few seeds] times"),
        ((1e20, 2e20), "fires", "grows 1.41×10²⁰ [2.53×10¹⁴, 7.91×10²⁵] times"),
    ]:
        verdict = judge([HEALTHY | {"growth": growth} for growth in growths])
        finding = verdict.findings[0]
        assert (finding.id, finding.outcome) == ("D1", outcome)
        assert sentence in finding.sentence
    verdict = judge([HEALTHY | {"depth_gain": gain, "stability": gain} for gain in (0.1, 0.3)])
    assert "gains +20.0 [too few seeds] points" in verdict.findings[2].sentence
    assert "batches is 0.2 [too few seeds] (drift" in verdict.besides[0].sentence
    shares = judge([HEALTHY | {"error_share": share} for share in (1e-9, 1.0)]).findings[1]
    assert shares.passes
    assert "3.16×10⁻⁵ [too few seeds] of the error" in shares.sentence


def test_noise_of_the_evaluation_set_only_widens_an_interval():
    values = [0.018, 0.020, -0.018]
    alone, noisy = interval(values, 0.05 / 3), interval_with_noise(values, [0.01] * 3, 0.05 / 3)
    assert noisy.low <= alone.low
    assert noisy.high >= alone.high
    assert interval_with_noise(values, [0.1] * 3, 0.05 / 3).high > 1.2 * alone.high


def test_noise_alone_gives_the_normal_interval():
    found = interval_with_noise([0.3], [0.01], 0.05)
    assert found.high - found.center == pytest.approx(0.0196, abs=1e-5)
    assert interval_with_noise([0.3, 0.3, 0.3], [0.01] * 3, 0.05).high == pytest.approx(
        0.3196, abs=1e-5
    )
