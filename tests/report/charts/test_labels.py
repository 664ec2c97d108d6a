"""Texts of charts."""

from __future__ import annotations

import pytest

from depthgauge.config import NetConfig, SharedConfig, TaskConfig
from depthgauge.report.charts.labels import plain, study_title


def test_signs_that_cannot_be_shown_become_spaces():
    for text in ["a\nb", "a\tb", "a\0b", "a\x1bb", "a\ud800b"]:
        assert plain(text) == "a b"


def test_a_long_name_keeps_both_its_ends():
    short = plain("first" + 100 * "x" + "last")
    assert short.startswith("first")
    assert short.endswith("last")
    assert len(short) == 48
    assert plain("y" * 48) == "y" * 48


@pytest.mark.parametrize("longest", [7, 16, 48])
def test_a_name_is_never_longer_than_asked(longest):
    assert len(plain("z" * 99, longest)) == longest


def test_a_title_says_what_is_known():
    for task, net, title in [
        ("t", NetConfig(width=8, blocks=1), "t, width 8, 1 block"),
        ("t$", NetConfig(width=8, blocks=2), "t$, width 8, 2 blocks"),
        ("t" * 99, None, plain("t" * 99, 36)),
        ("t", None, "t"),
    ]:
        config = SharedConfig(task=TaskConfig(name=task, checksum="0"), net=net)
        assert study_title(config) == title
