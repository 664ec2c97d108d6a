"""The style of rules: one for each, told apart without colour too."""

from __future__ import annotations

from itertools import combinations

from depthgauge.report.charts.rule_styles import RuleScales, rule_styles


def styles_of(count: int):
    return list(rule_styles([str(n) for n in range(count)]).values())


def test_a_rule_keeps_its_style_when_others_follow():
    few, many = rule_styles(["bp", "dfa"]), rule_styles(["bp", "dfa", "fa"])
    assert {name: many[name] for name in few} == few
    assert rule_styles([]) == {}


def test_no_two_of_the_first_28_share_colour_and_dashes():
    for one, other in combinations(styles_of(28), 2):
        assert (one.colour, one.dash) != (other.colour, other.dash)


def test_the_first_seven_differ_in_colour_and_sign():
    for name in ("colour", "sign", "outline"):
        assert len({getattr(style, name) for style in styles_of(7)}) == 7


def test_rules_of_one_colour_differ_in_sign_and_dashes():
    for one, other in combinations(styles_of(28), 2):
        if one.colour == other.colour:
            assert one.dash != other.dash
            assert one.sign != other.sign


def test_a_rule_that_is_known_looks_the_same_in_every_study():
    everywhere = [rule_styles(rules) for rules in (["dfa"], ["mine", "dfa", "bp"], ["bp", "dfa"])]
    assert len({found["dfa"] for found in everywhere}) == 1
    assert everywhere[1]["mine"] not in (everywhere[1]["dfa"], everywhere[1]["bp"])


def test_scales_give_each_rule_its_style():
    labels = ["bp", "mine", "$x_1$ <b>"]
    scales, styles = RuleScales(labels), rule_styles(labels)
    for channel, value in (
        (scales.colour, lambda style: style.colour),
        (scales.fill, lambda style: style.colour),
        (scales.stroke, lambda style: style.colour),
        (scales.shape, lambda style: style.outline),
        (scales.dash, lambda style: list(style.dash)),
    ):
        scale = channel.to_dict()["scale"]
        assert dict(zip(scale["domain"], scale["range"], strict=True)) == {
            label: value(style) for label, style in styles.items()
        }


def test_only_rules_that_are_drawn_have_an_entry_in_the_legend():
    assert RuleScales(["bp", "dfa"]).colour.to_dict()["legend"] is None
    some = RuleScales(["bp", "dfa", "fa"], ["fa", "bp"])
    assert some.shape.to_dict()["legend"]["values"] == ["bp", "fa"]
