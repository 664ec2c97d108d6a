"""The look of rules: one for each, told apart without colour too."""

from __future__ import annotations

from itertools import combinations

from depthgauge.report.palette import DARK, DASHES, LIGHT, LINES, MARKERS, SYMBOLS, looks

WHITE, BLACK = "#FFFFFF", "#15181D"
GRAPHICS = 3.0
"""The least contrast of a graphic with its ground (WCAG 2.1, 1.4.11)."""


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_a_rule_keeps_its_look_when_others_follow():
    few, many = looks(["bp", "dfa"]), looks(["bp", "dfa", "fa"])
    assert {name: many[name] for name in few} == few
    assert looks([]) == {}


def test_no_two_of_the_first_28_share_colour_and_line():
    found = list(looks([str(n) for n in range(28)]).values())
    for one, other in combinations(found, 2):
        assert (one.light, one.line) != (other.light, other.line)
        assert (one.dark, one.dash) != (other.dark, other.dash)


def test_the_first_seven_differ_in_their_sign_too():
    found = list(looks([str(n) for n in range(7)]).values())
    for name in ("light", "dark", "marker", "symbol"):
        assert len({getattr(look, name) for look in found}) == 7


def test_rules_of_one_colour_differ_in_sign_and_line():
    found = list(looks([str(n) for n in range(28)]).values())
    for one, other in combinations(found, 2):
        if one.light == other.light:
            assert one.line != other.line
            assert one.marker != other.marker


def test_the_page_and_the_figures_have_the_same_signs_and_lines():
    signs, lines = dict(zip(MARKERS, SYMBOLS, strict=True)), dict(zip(LINES, DASHES, strict=True))
    for look in looks([str(n) for n in range(40)]).values():
        assert (look.symbol, look.dash) == (signs[look.marker], lines[look.line])


def test_colours_stand_out_on_dark_pages():
    assert all(contrast(colour, BLACK) >= GRAPHICS for colour in DARK)


def test_light_and_dark_colours_go_together():
    for light, dark in zip(LIGHT, DARK, strict=True):
        assert luminance(dark) > luminance(light)


def test_colours_stand_out_on_light_pages():
    assert all(contrast(colour, WHITE) >= GRAPHICS for colour in LIGHT)


def test_a_rule_that_is_known_looks_the_same_in_every_study():
    everywhere = [looks(methods) for methods in (["dfa"], ["mine", "dfa", "bp"], ["bp", "dfa"])]
    assert len({found["dfa"] for found in everywhere}) == 1
    assert everywhere[1]["mine"] not in (everywhere[1]["dfa"], everywhere[1]["bp"])
