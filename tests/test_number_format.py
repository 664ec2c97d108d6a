"""Numbers as a reader sees them."""

from __future__ import annotations

import math
from dataclasses import replace

from depthgauge.diagnostics.intervals import Interval
from depthgauge.diagnostics.scale import GROWTH
from depthgauge.number_format import (
    bounds,
    center,
    count_of,
    counted,
    duration,
    exact,
    percent,
    percent_spread,
    points,
    signed,
    significant,
    with_bounds,
    with_powers,
)
from depthgauge.results.spread import Spread


def test_three_significant_digits():
    for value, text in [
        (376.2, "376"),
        (0.96, "0.960"),
        (0.0012, "0.00120"),
        (4490.0, "4,490"),
        (1.28e-5, "1.28×10⁻⁵"),
        (-2e-10, "−2.00×10⁻¹⁰"),
        (0.0, "0"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (math.nan, "–"),
        (None, "–"),
    ]:
        assert significant(value) == text


def test_every_digit_that_a_setting_has():
    for value, text in [
        (1e-6, "1×10⁻⁶"),
        (0.0012345, "0.0012345"),
        (50.0, "50"),
        (-0.5, "−0.5"),
        (1e22, "1×10²²"),
    ]:
        assert exact(value) == text


def test_signs_are_shown_unless_nothing_is_left_to_sign():
    for value, text in [(0.25, "+0.250"), (-0.0391, "−0.039"), (-0.0002, "0.000"), (None, "–")]:
        assert signed(value) == text


def test_gains_are_in_points():
    assert [points(share) for share in (0.4506, -0.089, None)] == ["+45.1", "−8.9", "–"]


def test_means_with_their_spread():
    assert percent_spread(Spread(0.7211, 0.0023, 3)) == "72.1 ± 0.2"
    assert percent_spread(Spread(0.7211, None, 1)) == "72.1"
    assert percent_spread(Spread(None, None, 0)) == "–"


def test_intervals():
    several = Interval(233.7, 375.9, 604.8, 3)
    assert with_bounds(GROWTH, several) == "376 [234, 605]"
    assert (center(several), bounds(GROWTH, several)) == ("376", "[234, 605]")
    assert with_bounds(GROWTH, Interval(375.9, 375.9, 375.9, 1)) == "376"
    assert with_bounds(GROWTH, replace(several, n=1)) == "376 [234, 605]"  # noise of evaluation
    nothing = Interval(8.83e-7, 22.6, 5.77e8, 2)
    assert with_bounds(GROWTH, nothing) == "22.6 [too few seeds]"
    assert bounds(GROWTH, nothing, limit=50.0) == "[too few seeds]"
    assert bounds(GROWTH, nothing, limit=1e9) == "[8.83×10⁻⁷, 5.77×10⁸]"
    assert with_bounds(GROWTH, None) == center(None) == bounds(GROWTH, None) == "–"


def test_a_bound_may_be_infinite():
    assert with_bounds(GROWTH, Interval(3.0, 5.0, math.inf, 2)) == "5.00 [3.00, ∞]"
    assert with_bounds(GROWTH, Interval(*[math.inf] * 3, 2)) == "∞ [∞, ∞]"


def test_powers_in_a_sentence():
    assert with_powers("is 1.1e-07 (floor 2e+02, 3e8), e-mail") == (
        "is 1.1×10⁻⁷ (floor 2×10², 3×10⁸), e-mail"
    )


def test_shares_in_per_cent():
    for share, text in [(None, "–"), (0.0, "0.0"), (0.30451, "30.5"), (1.0, "100.0")]:
        assert percent(share) == text


def test_how_many_of_how_many():
    assert [count_of(counts) for counts in ((2, 3), (0, 3), (0, 0), None)] == [
        "2 of 3",
        "0 of 3",
        "–",
        "–",
    ]


def test_a_number_with_its_noun():
    assert [counted(n, "run") for n in (0, 1, 2)] == ["0 runs", "1 run", "2 runs"]
    assert counted(2, "process", "processes") == "2 processes"


def test_times():
    for seconds, words in [
        (0.4, "0 s"),
        (119, "119 s"),
        (121, "2 min"),
        (7199, "120 min"),
        (9000, "2.5 h"),
    ]:
        assert duration(seconds) == words
