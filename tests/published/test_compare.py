"""The comparison of a measurement with a published figure."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from depthgauge.published.compare import PUBLISHED_SEEDS, ROUNDING, compare_figure


def test_one_run_is_compared_by_the_published_spread():
    """t(0.975, 2) = 4.302653; 4.302653 · 0.002 · √(1/3 + 1) + 0.0005 = 0.0104366."""
    found = compare_figure("bp k=4", [0.620], [0.617, 0.002])
    assert found.half_width == pytest.approx(0.0104366, abs=1e-7)
    assert found.difference == pytest.approx(0.003)
    assert found.inside is True
    assert (found.n, found.measured, found.measured_std) == (1, 0.620, None)
    assert (found.what, found.published, found.published_std) == ("bp k=4", 0.617, 0.002)


def test_three_runs_pool_both_spreads():
    values, figure = [0.30, 0.31, 0.35], [0.32, 0.01]
    found = compare_figure("x", values, figure)
    pooled = (2 * np.var(values, ddof=1) + 2 * 0.01**2) / 4
    expected = stats.t.ppf(0.975, 4) * math.sqrt(pooled * (1 / 3 + 1 / 3)) + ROUNDING
    assert found.half_width == pytest.approx(expected, rel=1e-12)
    assert found.measured == pytest.approx(0.32)
    assert found.measured_std == pytest.approx(np.std(values, ddof=1))


@pytest.mark.parametrize("n", [2, 3, 5])
def test_the_interval_is_that_of_scipys_two_sample_test(n):
    """Without rounding, a measurement on the edge has p = 0.05 in the pooled t-test."""
    generator = np.random.default_rng(n)
    values = list(0.4 + 0.01 * generator.standard_normal(n))
    found = compare_figure("x", values, [0.5, 0.01])
    edge = found.half_width - ROUNDING
    test = stats.ttest_ind_from_stats(
        edge, np.std(values, ddof=1), n, 0.0, 0.01, PUBLISHED_SEEDS, equal_var=True
    )
    assert test.pvalue == pytest.approx(0.05, abs=1e-9)


@pytest.mark.parametrize(("shift", "inside"), [(0.999, True), (1.001, False)])
@pytest.mark.parametrize("sign", [-1, 1])
def test_inside_means_within_the_half_width_on_either_side(shift, inside, sign):
    figure = [0.5, 0.01]
    half_width = compare_figure("x", [0.5], figure).half_width
    found = compare_figure("x", [0.5 + sign * shift * half_width], figure)
    assert found.inside is inside
    assert found.difference == pytest.approx(sign * shift * half_width)


def test_a_published_spread_of_zero_counts_as_the_largest_that_rounds_to_it():
    zero, smallest = (compare_figure("x", [0.36], [0.359, std]) for std in (0.0, ROUNDING))
    assert zero.half_width == smallest.half_width
    assert zero.half_width > ROUNDING
    assert zero.published_std == 0.0
    assert zero.inside is True


def test_what_was_not_measured_alike_gets_no_interval():
    found = compare_figure("x", [0.1], [0.9, 0.01], alike=False)
    assert (found.half_width, found.inside) == (None, None)
    assert found.difference == pytest.approx(-0.8)


@pytest.mark.parametrize("n", [1, 3])
def test_the_interval_covers_95_per_cent_of_new_measurements(n):
    """Both studies are drawn from one normal distribution, much wider than the rounding."""
    draws = 4000
    generator = np.random.default_rng(2024 + n)
    before = 10.0 * generator.standard_normal((draws, PUBLISHED_SEEDS))
    now = 10.0 * generator.standard_normal((draws, n))
    figures = np.stack([before.mean(1), before.std(1, ddof=1)], axis=1).tolist()
    inside = [
        compare_figure("x", values, figure).inside
        for values, figure in zip(now.tolist(), figures, strict=True)
    ]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.012)  # 3.5 standard errors
