"""Null calibration: p-values by hand, and the words."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.gauges.null import calibrate, calibrate_one


def draws(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def evenly(low: float, high: float, count: int = 99) -> torch.Tensor:
    return torch.linspace(low, high, count, dtype=torch.float64)


def test_p_values_by_hand():
    """Mean 0.3; of four draws one is at least 0.45, and two are at least 0.15 away from 0.3."""
    found = calibrate_one(0.45, draws(0.1, 0.2, 0.3, 0.6))
    assert found.observed == 0.45
    assert found.mean == pytest.approx(0.3)
    assert found.spread == pytest.approx(math.sqrt((0.04 + 0.01 + 0 + 0.09) / 3))
    assert found.p_upper == (1 + 1) / (1 + 4)
    assert found.p_two_sided == (1 + 2) / (1 + 4)
    assert found.z == pytest.approx((0.45 - 0.3) / found.spread)


def test_a_draw_as_large_as_observed_counts_as_large():
    assert calibrate_one(0.5, draws(0.1, 0.5, 0.2)).p_upper == 2 / 4


def test_far_below_the_null_is_seen_on_two_sides_only():
    found = calibrate_one(-1.0, evenly(-0.1, 0.1))
    assert found.p_upper == 1.0
    assert found.p_two_sided == 1 / 100
    assert found.word == "absent"


hundredths = st.integers(-100, 100).map(lambda n: n / 100)


@given(st.lists(hundredths, min_size=2, max_size=12), hundredths)
def test_against_a_loop(values, observed):
    found = calibrate_one(observed, draws(*values))
    above = sum(value >= observed for value in values)
    assert found.p_upper == (1 + above) / (1 + len(values))
    assert found.spread == pytest.approx(np.std(values, ddof=1), abs=1e-12)
    assert 1 / (1 + len(values)) <= found.p_two_sided <= 1


def test_the_words():
    for observed, low, high, word in [
        (0.5, -0.1, 0.1, "specific"),
        (0.15, 0.1, 0.2, "generic"),
        (0.5, 0.1, 0.2, "mixed"),
        (0.02, -0.1, 0.1, "absent"),
    ]:
        assert calibrate_one(observed, evenly(low, high)).word == word


def test_specific_needs_one_chance_in_twenty():
    assert calibrate_one(0.2, torch.zeros(19, dtype=torch.float64)).p_upper == 1 / 20
    assert calibrate_one(0.2, torch.zeros(19, dtype=torch.float64)).word == "specific"


def test_with_fewer_draws_nothing_can_be_told():
    assert calibrate_one(0.2, torch.zeros(18, dtype=torch.float64)).word == "n/a"


def test_what_points_the_other_way_is_not_generic():
    assert calibrate_one(-0.3, evenly(0.1, 0.2)).word == "absent"


def test_credit_that_does_not_depend_on_the_feedback_is_generic_and_has_no_z():
    for rounding in [-1e-15, 0.0, 1e-15]:
        found = calibrate_one(0.5 + rounding, torch.full((99,), 0.5, dtype=torch.float64))
        assert found.word == "generic"
        assert found.z is None
        assert found.mean == pytest.approx(0.5)


def test_what_is_undefined_is_not_calibrated():
    for observed, fresh in [(math.nan, draws(0.1, 0.2)), (0.1, draws(0.1, math.nan))]:
        found = calibrate_one(observed, fresh)
        assert found.word == "n/a"
        assert (found.observed, found.mean, found.spread) == (None, None, None)
        assert (found.p_upper, found.p_two_sided, found.z) == (None, None, None)


def test_layers_all_of_them_and_the_blocks_alone():
    observed = draws(0.9, 0.0, 0.3)
    fresh = torch.tensor([[0.1, 0.2, 0.4], [0.3, -0.2, 0.0], [0.2, 0.1, 0.1]]).double()
    reading = calibrate(observed, fresh, "depthgauge", "3 samples")
    assert [layer.observed for layer in reading.per_layer] == [0.9, 0.0, 0.3]
    assert [layer.mean for layer in reading.per_layer] == pytest.approx([0.2, 1 / 30, 0.5 / 3])
    assert reading.over_all.observed == pytest.approx(0.4)
    assert reading.over_all.spread == pytest.approx(np.std([0.7 / 3, 0.1 / 3, 0.4 / 3], ddof=1))
    assert reading.deep.observed == pytest.approx(0.15)
    assert reading.deep.spread == pytest.approx(np.std([0.3, -0.1, 0.1], ddof=1))
    assert reading.fresh_deep == pytest.approx((0.3, -0.1, 0.1))
    assert reading.deep.p_upper == (1 + 1) / (1 + 3)
    assert (reading.draws, reading.measured_on) == (3, "3 samples")


def test_a_layer_that_is_undefined_leaves_the_other_layers_defined():
    observed = draws(0.9, math.nan)
    reading = calibrate(observed, torch.rand(19, 2).double(), "depthgauge", "")
    assert [layer.word == "n/a" for layer in reading.per_layer] == [False, True]
    assert reading.deep.word == reading.over_all.word == "n/a"
