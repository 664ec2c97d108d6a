"""Colours that can be seen and told apart, on light and on dark paper."""

from __future__ import annotations

import pytest

from depthgauge.report.charts.colours import (
    BAD_SIDE,
    DARK,
    LIGHT,
    RULES,
    rule_colour,
    style_sheet,
    with_light_colours,
)

GRAPHICS, TEXT = 3.0, 4.5
"""The least contrast with the paper (WCAG 2.1, 1.4.11 and 1.4.3)."""

OF_RULES = [f"rule-{number}" for number in range(RULES)]


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("colours", [LIGHT, DARK])
def test_rules_and_texts_stand_out(colours):
    assert all(contrast(colours[name], colours["paper"]) >= GRAPHICS for name in OF_RULES)
    assert all(contrast(colours[name], colours["paper"]) >= TEXT for name in ("ink", "soft"))


def test_each_colour_has_a_counterpart_on_dark_paper_and_rules_are_lighter_there():
    assert set(LIGHT) == set(DARK)
    assert all(luminance(DARK[name]) > luminance(LIGHT[name]) for name in OF_RULES)


def test_a_file_has_the_colours_themselves():
    assert with_light_colours(f"fill: {rule_colour(0)}; {BAD_SIDE}") == "fill: #0072B2; #f9e7e1"


def test_a_colour_of_no_style_sheet_is_an_error():
    with pytest.raises(KeyError):
        with_light_colours("var(--none)")


def test_a_style_sheet_declares_what_charts_name():
    assert style_sheet({"paper": "#fff", "ink": "#000"}) == "--paper: #fff; --ink: #000;"
