"""D3: accuracy less that of the frozen baseline, where both are known."""

from __future__ import annotations

import pytest

from depthgauge.gauges.depth import read_depth


def test_the_gain_is_accuracy_less_the_frozen_one():
    reading = read_depth(0.61, 0.52, bp_gain=0.1)
    assert reading.value == pytest.approx(0.09)
    assert (reading.accuracy, reading.frozen, reading.bp_gain) == (0.61, 0.52, 0.1)
    assert reading.note == ""


def test_a_loss_is_negative():
    assert read_depth(0.30, 0.35).value == pytest.approx(-0.05)


def test_a_gain_of_exactly_the_threshold_is_not_rounded_below_it():
    """In binary, 0.12 − 0.10 is a little less than 0.02."""
    assert 0.12 - 0.10 < 0.02
    assert read_depth(0.12, 0.10).value == 0.02


def test_an_accuracy_of_zero_is_known():
    assert read_depth(0.0, 0.0).value == 0.0


def test_without_both_it_is_not_measured():
    for accuracy, frozen in [(None, 0.5), (0.5, None), (None, None)]:
        reading = read_depth(accuracy, frozen)
        assert reading.value is None
        assert "not measured" in reading.note
