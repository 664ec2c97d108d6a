"""Curves in a line of text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from depthgauge.report.sparkline import BLOCKS, DIGITS, sparklines

SHARES = st.integers(0, 1000).map(lambda thousandths: thousandths / 1000)
CURVES = st.lists(st.lists(st.none() | SHARES, max_size=6), max_size=5)


def test_from_the_lowest_to_the_highest():
    eight = [level / 7 for level in range(8)]
    assert sparklines([eight]) == ["▁▂▃▄▅▆▇█"]
    assert sparklines([eight[::-1]], DIGITS) == ["76543210"]


def test_a_flat_low_curve_looks_flat_and_low_beside_one_that_climbs():
    assert sparklines([[0.25, 0.26, 0.25], [0.25, 0.5, 0.75]]) == ["▁▁▁", "▁▄█"]


def test_a_missing_value_has_a_sign_of_its_own():
    assert sparklines([[0.0, None, 1.0], [None, None, None]]) == ["▁·█", "···"]
    assert sparklines([[0.0, None, 1.0]], DIGITS) == ["0.7"]


def test_where_all_are_equal_they_are_in_the_middle():
    for curves in [[[0.3]], [[0.3, 0.3], [0.3, None]], [[0.0, 0.0]]]:
        signs = set("".join(sparklines(curves))) - {BLOCKS.missing}
        assert signs == {"▄"}


def test_curves_of_nothing():
    for curves in [[], [[]], [[], []]]:
        assert sparklines(curves) == ["" for _ in curves]


def test_digits_can_be_shown_anywhere():
    assert "".join(DIGITS).isascii()


@given(CURVES)
def test_each_value_has_the_sign_it_is_nearest_to(curves):
    """Against trying every sign."""
    known = [value for curve in curves for value in curve if value is not None]
    if len(set(known)) < 2:
        return
    low, high = min(known), max(known)
    for curve, line in zip(curves, sparklines(curves), strict=True):
        assert len(line) == len(curve)
        for value, sign in zip(curve, line, strict=True):
            if value is None:
                assert sign == BLOCKS.missing
                continue
            away = [abs(low + (high - low) * level / 7 - value) for level in range(8)]
            assert away[BLOCKS.levels.index(sign)] <= min(away) + 1e-12
