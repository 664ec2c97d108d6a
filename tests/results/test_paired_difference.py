"""Differences paired by seed, against scipy's paired t-test."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from depthgauge.results.paired_difference import paired_difference

ACCURACIES = st.dictionaries(
    st.integers(0, 12), st.integers(0, 10_000).map(lambda correct: correct / 10_000), min_size=1
)


@given(ACCURACIES, ACCURACIES)
def test_mean_and_interval_are_those_of_a_paired_t_test(first, other):
    seeds = [seed for seed in first if seed in other]
    a, b = (np.array([values[seed] for seed in seeds]) for values in (first, other))
    assume(len(seeds) > 1 and np.ptp((b - a).round(9)) > 0)
    expected = stats.ttest_rel(b, a).confidence_interval(0.95)
    difference = paired_difference("accuracy", first, other)
    assert difference.mean == pytest.approx((b - a).mean(), abs=1e-9)
    assert (difference.first, difference.other) == pytest.approx((a.mean(), b.mean()))
    assert difference.low == pytest.approx(expected.low, abs=1e-9)
    assert difference.high == pytest.approx(expected.high, abs=1e-9)
    assert difference.excludes_zero == (expected.low > 0 or expected.high < 0)


@given(ACCURACIES, ACCURACIES)
def test_only_seeds_that_both_have_take_part(first, other):
    difference = paired_difference("accuracy", first, other)
    assert set(difference.by_seed) == set(first) & set(other)
    assert list(difference.by_seed) == sorted(difference.by_seed)


def test_one_common_seed_has_a_difference_and_no_interval():
    difference = paired_difference("gain", {1: 0.25, 2: 0.5}, {2: 0.75, 3: 0.1})
    assert (difference.n, difference.mean, difference.low, difference.high) == (1, 0.25, None, None)
    assert difference.excludes_zero is None
    assert (difference.first, difference.other) == (0.5, 0.75)
    assert difference.reading == "single seed"


def test_without_a_common_seed_there_are_the_means_alone():
    difference = paired_difference("gain", {1: 0.25, 2: 0.75}, {3: 0.5})
    assert (difference.n, difference.mean, difference.low, difference.by_seed) == (
        0,
        None,
        None,
        {},
    )
    assert (difference.first, difference.other) == (0.5, 0.5)
    assert difference.reading == "no common seed"
    assert not difference.identical


def test_an_interval_of_no_width_at_zero_does_not_exclude_it():
    difference = paired_difference("accuracy", {1: 0.3, 2: 0.4}, {1: 0.3, 2: 0.4})
    assert (difference.low, difference.high) == (0, 0)
    assert difference.identical
    assert difference.reading == "identical"


def test_rounding_is_not_a_finding():
    first, other = 0.3 - 0.1, 0.4 - 0.2
    assert first != other
    difference = paired_difference("gain", {1: first, 2: first}, {1: other, 2: other})
    assert difference.identical
    assert difference.excludes_zero is False


def test_what_may_be_said_of_it():
    for values, reading in [
        ({1: 0.5, 2: 0.51}, "excludes zero"),
        ({1: 0.5, 2: 0.31}, "includes zero"),
    ]:
        assert paired_difference("accuracy", {1: 0.3, 2: 0.3}, values).reading == reading
        assert paired_difference("accuracy", values, {1: 0.3, 2: 0.3}).reading == reading
