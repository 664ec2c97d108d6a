"""Text on one line."""

from __future__ import annotations

import pytest

from depthgauge.report.writers.plain_text import plain_text


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
