"""Names that a definition takes from around it."""

from __future__ import annotations

from depthgauge.user_code.global_names import global_names


def test_a_class_may_take_a_name_from_around_it_and_keep_it():
    text = "class A(B):\n    Options = Options\n    x = 1\n    y = x + z\n"
    assert global_names(text) == {"B", "Options", "z"}
