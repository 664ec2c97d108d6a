"""Logarithmic axes and their ticks."""

from __future__ import annotations

import math
from itertools import product

from matplotlib.figure import Figure

from depthgauge.report.figures.log_axis import log_axis, log_ticks


def axis_of(values, which="y"):
    axes = Figure().subplots()
    log_axis(axes, which, values)
    axis = axes.yaxis if which == "y" else axes.xaxis
    return axis, [text.get_text() for text in axis.get_ticklabels()]


def test_ticks_are_few_round_numbers_in_one_notation():
    for values, labels in [
        ([1, 60], ["1", "2", "5", "10", "20", "50"]),
        ([1, 500], ["1", "3", "10", "30", "100", "300"]),
        ([1, 9000], ["1", "10", "100", "1000", "10000"]),
        ([1e-5, 1], ["10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²", "10⁻¹", "1"]),
        ([1e-20, 1e20], ["10⁻¹⁸", "10⁻¹²", "10⁻⁶", "1", "10⁶", "10¹²", "10¹⁸"]),
    ]:
        _, shown = axis_of(values)
        assert shown == labels


def test_there_are_always_two_ticks_within_the_limits():
    lows, spans = (-300.0, -12.3, -0.4, 0.0, 2.9), (1.0, 1.7, 3.3, 8.0, 61.0, 290.0)
    for low, span, most in product(lows, spans, (4, 7)):
        ticks = log_ticks(low, low + span, most)
        assert 2 <= len(ticks) <= most
        assert all(low <= math.log10(tick) <= low + span for tick in ticks)
        assert ticks == sorted(ticks)


def test_at_least_a_decade_is_shown():
    for values in [[], [0.0], [math.inf, -1.0], [3.0], [3.0, 3.1]]:
        axis, _ = axis_of(values)
        low, high = axis.get_view_interval()
        assert 10 <= high / low < 20
        assert all(low < value < high for value in values if 0 < value < math.inf)


def test_every_value_has_its_place():
    axis, _ = axis_of([1e-9, 0.0, 5.0, math.inf], "x")
    low, high = axis.get_view_interval()
    assert low < 1e-9
    assert 5 < high < 1e3


def test_numbers_at_the_end_of_what_floats_can_hold():
    axis, _ = axis_of([5e-324, 1.7e308])
    low, high = axis.get_view_interval()
    assert 0 < low < high < math.inf
