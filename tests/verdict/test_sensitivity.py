"""The stable ranges of thresholds, compared with a scan over a fine grid."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from verdict.simulated_seeds import DEGENERATE, HEALTHY, LIMITS, as_seeds, changed, studies, words

from depthgauge.verdict.judge import judge as judge_study
from depthgauge.verdict.sensitivity import StableRange
from depthgauge.verdict.sensitivity import sensitivity as sensitivity_of_study
from depthgauge.verdict.thresholds import Thresholds

judge = partial(judge_study, protocol="published")
sensitivity = partial(sensitivity_of_study, protocol="published")

STEP = 1.02
GRID = STEP ** np.arange(-2000, 2001)
"""Multiples of a threshold, from 6e-18 to 2e17."""

bp_gains = st.none() | st.floats(0.001, 0.5)


def by_scan(study, name: str, bp_gain: float | None) -> tuple[float, float]:
    """Return the smallest and largest multiple of the threshold that keep the word."""
    scanned = words(study, {**LIMITS, name: LIMITS[name] * GRID}, bp_gain)
    found, used = np.broadcast_to(scanned, GRID.shape), len(GRID) // 2
    other = np.flatnonzero(found != found[used])
    below, above = other[other < used], other[other > used]
    low = GRID[below[-1] + 1] if below.size else 0.0
    high = GRID[above[0] - 1] if above.size else math.inf
    return low, high


def in_multiples(found: StableRange) -> tuple[float, float]:
    low = 0.0 if found.low is None else found.low / found.used
    return low, math.inf if found.high is None else found.high / found.used


@settings(max_examples=30)
@given(studies(), bp_gains)
def test_each_range_is_the_one_that_a_scan_finds(study, bp_gain):
    for found in sensitivity(as_seeds(study), bp_gain=bp_gain):
        (low, high), (scan_low, scan_high) = (
            in_multiples(found),
            by_scan(study, found.threshold, bp_gain),
        )
        in_reach = low if low > GRID[0] else 0.0, high if high < GRID[-1] else math.inf
        assert in_reach[0] <= scan_low * (1 + 1e-9)
        assert in_reach[0] * STEP >= scan_low * (1 - 1e-9)
        assert in_reach[1] >= scan_high * (1 - 1e-9)
        assert in_reach[1] <= scan_high * STEP * (1 + 1e-9)


@settings(max_examples=20)
@given(studies(), bp_gains, st.floats(0.001, 0.999))
def test_the_word_changes_just_outside_the_range(study, bp_gain, where):
    seeds = as_seeds(study)
    now = judge(seeds, bp_gain=bp_gain).word

    def word_at(name: str, value: float) -> str:
        return judge(seeds, Thresholds(**{name: value}), bp_gain).word

    for found in sensitivity(seeds, bp_gain=bp_gain):
        low = found.used * 1e-12 if found.low is None else found.low
        high = found.used * 1e12 if found.high is None else found.high
        assert word_at(found.threshold, low ** (1 - where) * high**where) == now
        if found.low is not None:
            assert word_at(found.threshold, found.low * (1 - 1e-9)) != now
        if found.high is not None:
            assert word_at(found.threshold, found.high * (1 + 1e-9)) != now


def test_there_is_one_range_for_each_threshold_of_the_three_diagnostics():
    names = ("growth", "gradient", "error_share", "numerics", "depth_gain")
    found = [(r.threshold, r.used) for r in sensitivity([HEALTHY])]
    assert found == [(name, LIMITS[name]) for name in names]


def test_published_bp_stays_trustworthy_between_its_readings_and_the_thresholds():
    growth, gradient, share, _, gain = sensitivity([HEALTHY] * 3)
    assert (growth.low, growth.high) == (pytest.approx(1.0), None)
    assert (gradient.low, gradient.high) == (None, None)
    assert (share.low, share.high) == (None, None)
    assert (gain.low, gain.high) == (None, pytest.approx(0.226))


def test_where_three_diagnostics_fire_no_single_threshold_changes_the_word():
    assert [(r.low, r.high) for r in sensitivity([DEGENERATE] * 3)] == [(None, None)] * 5


def test_where_only_d2_fires_each_of_its_floors_matters():
    seed = changed(DEGENERATE, growth=1.0, depth_gain=0.2)
    growth, gradient, share, _, gain = sensitivity([seed])
    assert (growth.low, growth.high) == (gain.low, gain.high) == (None, None)
    assert (gradient.low, gradient.high) == (pytest.approx(5.4e-7), None)
    assert (share.low, share.high) == (pytest.approx(5.9e-7), None)


def test_a_gradient_that_is_numerically_wrong_makes_the_threshold_of_numerics_matter():
    numerics = sensitivity([changed(HEALTHY, numerics=0.98)])[3]
    assert (numerics.low, numerics.high) == (pytest.approx(0.98), None)


def test_a_threshold_of_depth_above_the_gain_of_bp_makes_d3_not_applicable():
    gain = sensitivity([HEALTHY] * 3, bp_gain=0.1)[-1]
    assert (gain.low, gain.high) == (None, pytest.approx(0.1))


def test_a_gain_that_was_not_measured_makes_the_threshold_of_depth_irrelevant():
    gain = sensitivity([changed(HEALTHY, depth_gain=None)], bp_gain=0.1)[-1]
    assert (gain.low, gain.high) == (None, None)


def test_thresholds_of_ones_own_are_the_ones_that_are_moved():
    growth = sensitivity([HEALTHY], Thresholds(growth=0.5))[0]
    assert (growth.used, growth.low, growth.high) == (0.5, None, pytest.approx(1.0))


def test_seeds_that_agree_on_nothing_do_not_break_it():
    seeds = [changed(HEALTHY, growth=g, gradient=1 / g) for g in (1e-150, 1e150)]
    growth = sensitivity(seeds)[0]
    assert (growth.low, growth.high) == (None, None)


def test_ends_at_the_limits_of_floating_point_are_found():
    """The lower end is about 1e-320, the upper one about 1e308."""
    for name, center, log_spread in [("gradient", -20.0, 18.77), ("growth", 8.0, 18.36)]:
        readings = [math.exp(center - log_spread), math.exp(center + log_spread)]
        seeds = [changed(HEALTHY, error_share=1e-9, **{name: reading}) for reading in readings]
        found = {r.threshold: r for r in sensitivity(seeds)}[name]
        ends = judge(seeds).findings[0 if name == "growth" else 1].intervals[name]
        assert 0 < ends.low < ends.high < math.inf
        assert (found.low, found.high) == (ends.low, ends.high)
