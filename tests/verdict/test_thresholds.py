"""The thresholds: the protocol's numbers, documented, and the values that are refused."""

from __future__ import annotations

import copy
import math
from pickle import dumps, loads

import pytest

from depthgauge.errors import UserError
from depthgauge.verdict.thresholds import Thresholds, thresholds_from

NAMES = list(Thresholds())


def test_the_defaults_are_those_of_the_protocol():
    assert dict(Thresholds()) == {
        "growth": 50.0,
        "gradient": pytest.approx(1e-7 * 128, rel=1e-12),
        "error_share": 1.4e-5,
        "numerics": 0.99,
        "stability": 0.30,
        "depth_gain": 0.02,
        "error_rate": 0.05,
    }


def test_each_threshold_is_documented():
    for name in NAMES:
        assert f"        {name}: " in Thresholds.__doc__


def test_a_value_that_is_not_a_number_above_zero_is_refused_by_name():
    for name in NAMES:
        for value in [0, 0.0, -1.0, -math.inf, math.nan, "50", None]:
            with pytest.raises(
                UserError, match=f"threshold {name} is .*; give a number above 0"
            ) as refused:
                Thresholds(**{name: value})
            assert repr(value) in str(refused.value)


def test_an_error_rate_of_one_or_more_is_refused():
    for rate in [1, 1.0, 5, math.inf]:
        with pytest.raises(UserError, match="give a number below 1"):
            Thresholds(error_rate=rate)


def test_an_integer_is_accepted():
    assert Thresholds(growth=100).growth == 100


def test_thresholds_cannot_be_changed():
    with pytest.raises(AttributeError):
        Thresholds().growth = 1.0


def test_thresholds_are_a_mapping_with_attributes_that_is_equal_by_value():
    used = Thresholds(growth=7.0)
    assert (used["growth"], used.growth, used.stability) == (7.0, 7.0, 0.30)
    assert {**used} == dict(used)
    assert Thresholds(**used) == used == Thresholds().replace(growth=7.0) != Thresholds()
    assert len({used, Thresholds(growth=7.0), Thresholds()}) == 2
    assert eval(repr(used)) == used
    with pytest.raises(AttributeError, match="grwth"):
        _ = used.grwth


def test_thresholds_can_be_copied_and_sent_to_another_process():
    for through in [copy.copy, copy.deepcopy, lambda t: loads(dumps(t))]:
        assert through(Thresholds(growth=7.0)) == Thresholds(growth=7.0)


def test_each_of_the_diagnostics_that_count_has_an_equal_share_of_the_error_rate():
    assert Thresholds().error_rate_of_each == 0.05 / 3


def test_thresholds_are_made_from_a_mapping():
    assert thresholds_from({"growth": 7.0}) == Thresholds(growth=7.0)


def test_an_unknown_or_infinite_threshold_is_refused():
    for given, words in [
        ({"grwth": 7.0}, "no threshold 'grwth'; the thresholds are growth"),
        ({"growth": math.inf}, "growth is inf; use 1e9"),
    ]:
        with pytest.raises(UserError, match=words):
            thresholds_from(given)
