"""What cells have in common."""

from __future__ import annotations

import pytest

from depthgauge.report.paper.cells import plain_text, right_aligned


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a\nb\r\n\tc  d ", "a b c d"),
        ("a\u2028b\xa0c\x0bd", "a b c d"),
        ("a\x00b\x7f", "a\ufffdb\ufffd"),
        ("\udc80", "\ufffd"),
        (" \n ", ""),
    ],
)
def test_text_is_one_line_of_what_can_be_shown(text, plain):
    assert plain_text(text) == plain


def test_numbers_stand_to_the_right():
    for cell in [
        "72.1",
        "72.1 ± 0.2",
        "+45.1 [+44.0, −46.1]",
        "[0.929, 3.21×10³]",
        "∞",
        "1.28×10⁻⁵",
        "< 1.28×10⁻⁵",
        "2 of 3",
        "+0.383 s",
        "38.9 ± 0.1 (n = 2, 1 lost)",
        "–",
        "",
    ]:
        assert right_aligned([["rule", "1"], ["rule", cell]], 2) == [False, True]


def test_words_stand_to_the_left():
    for cell in ["walk back (D1)", "3017c994", "k = 2", "finished"]:
        assert right_aligned([["rule", "1"], ["rule", cell]], 2) == [False, False]


def test_what_names_the_row_is_no_number_even_if_it_looks_like_one():
    assert right_aligned([["42", "7"]], 2) == [False, True]
