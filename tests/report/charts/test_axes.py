"""Axes whose limits and ticks are fixed before anything is drawn."""

from __future__ import annotations

import json
import math
from itertools import product

import pytest

from depthgauge.report.charts.axes import Span, has_place, log_ticks, span_of


def labels_of(span: Span, most: int = 7) -> list[str]:
    """Return what stands beside the ticks; the axis looks them up by Vega's format `.0e`."""
    axis = span.axis("").to_dict()
    texts = json.loads(axis["labelExpr"].partition("[")[0])
    assert len(texts) == len(axis["values"])
    return list(texts.values())


def test_ticks_are_few_round_numbers_in_one_notation():
    for values, labels in [
        ([1, 60], ["1", "2", "5", "10", "20", "50"]),
        ([1, 500], ["1", "3", "10", "30", "100", "300"]),
        ([1, 9000], ["1", "10", "100", "1,000", "10,000"]),
        ([1e-5, 1], ["10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²", "10⁻¹", "1"]),
        ([1e-20, 1e20], ["10⁻¹⁸", "10⁻¹²", "10⁻⁶", "1", "10⁶", "10¹²", "10¹⁸"]),
    ]:
        assert labels_of(span_of(values, log=True)) == labels


def test_there_are_always_two_ticks_within_the_limits():
    lows, widths = (-300.0, -12.3, -0.4, 0.0, 2.9), (1.0, 1.7, 3.3, 8.0, 61.0, 290.0)
    for low, width, most in product(lows, widths, (4, 7)):
        ticks = log_ticks(low, low + width, most)
        assert 2 <= len(ticks) <= most
        assert all(low <= math.log10(tick) <= low + width for tick in ticks)
        assert ticks == sorted(ticks)


def test_at_least_a_decade_is_shown():
    for values in [[], [0.0], [math.inf, -1.0], [3.0], [3.0, 3.1]]:
        low, high = span_of(values, log=True).ends
        assert 10 <= high / low < 20
        assert all(low < value < high for value in values if has_place(value, log=True))


def test_every_value_that_has_a_place_is_inside():
    low, high = span_of([1e-9, 0.0, None, 5.0, math.inf, math.nan], log=True).ends
    assert low < 1e-9
    assert 5 < high < 1e3
    low, high = span_of([-3.0, None, 5.0, math.inf]).ends
    assert -4 < low < -3
    assert 5 < high < 6


def test_numbers_at_the_end_of_what_floats_can_hold():
    low, high = span_of([5e-324, 1.7e308], log=True).ends
    assert 0 < low < high < math.inf


def test_a_linear_axis_spans_at_least_what_is_asked():
    span = span_of([3.0, 3.0], least=10.0)
    assert span.width == pytest.approx(10 * 1.12)
    assert sum(span.ends) / 2 == pytest.approx(3)
    assert span_of([0.0, 100.0], least=10.0).width == pytest.approx(112)


def test_an_axis_without_any_value_has_a_width():
    assert span_of([]).width > 0


def test_more_room_is_a_share_of_the_width():
    assert Span(0.0, 10.0).widened(above=0.5) == Span(0.0, 15.0)
    assert Span(0.0, 2.0, log=True).widened(below=0.5).ends == (pytest.approx(0.1), 100)


def test_a_value_beyond_the_axis_stands_at_its_end():
    span = Span(0.0, 2.0, log=True)
    assert [span.clipped(value) for value in (0.0, 7.0, math.inf)] == [1, 7, 100]
