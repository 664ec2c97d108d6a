"""Rules at several settings, and under controls."""

from __future__ import annotations

import pytest

from depthgauge.errors import OptionError, UserError
from depthgauge.rules.choice import choose_rule
from depthgauge.scheduling.variations import at_all_settings, settings_of, with_controls


def texts(rule: str, **variations: list[str]) -> list[str]:
    return [choice.text for choice in settings_of(choose_rule(rule), variations)]


def test_every_combination_is_a_setting_of_its_own():
    variations = {"normalise": ["sample", "batch"], "penalty": ["0", "0.01"]}
    settings = settings_of(choose_rule("dfa"), variations)
    assert [choice.text for choice in settings] == [
        "dfa[normalise=sample,penalty=0]",
        "dfa[normalise=sample,penalty=0.01]",
        "dfa[normalise=batch,penalty=0]",
        "dfa[normalise=batch,penalty=0.01]",
    ]
    assert [choice.label for choice in settings] == [
        "dfa",
        "dfa[penalty=0.01]",
        "dfa[normalise=batch]",
        "dfa[normalise=batch,penalty=0.01]",
    ]


def test_a_rule_without_such_an_option_is_left_as_it_is():
    assert texts("bp", normalise=["sample", "batch"], nudge=["1", "2"]) == ["bp"]
    assert texts("dfa", normalise=["none", "batch"], nudge=["1", "2"]) == [
        "dfa[normalise=none]",
        "dfa[normalise=batch]",
    ]


def test_options_of_training_are_varied_for_every_rule():
    for rule in ("bp", "fa", "ep", "state_bridge"):
        assert texts(rule, learning_rate=["0.1", "0.2"]) == [
            f"{rule}[learning_rate=0.1]",
            f"{rule}[learning_rate=0.2]",
        ]


def test_what_the_rule_was_given_already_stays():
    assert texts("dfa[epsilon=0.5]", penalty=["1", "2"]) == [
        "dfa[epsilon=0.5,penalty=1]",
        "dfa[epsilon=0.5,penalty=2]",
    ]
    assert texts("dfa[epsilon=0.5]") == ["dfa[epsilon=0.5]"]


def test_a_setting_that_is_given_twice_is_refused():
    with pytest.raises(OptionError, match=r"--vary gives the setting dfa\[penalty=0.1\] twice"):
        texts("dfa", penalty=["0.1", "0.10"])


def every(*rules: str, **variations: list[str]) -> list[str]:
    chosen = [choose_rule(rule) for rule in rules]
    return [choice.label for choice in at_all_settings(chosen, variations)]


def test_a_name_that_no_rule_has_is_refused_with_those_that_there_are():
    with pytest.raises(OptionError, match="--vary speed") as caught:
        every("bp", "ep", penalty=["0", "1"], speed=["1", "2"])
    assert caught.value.option == "vary"
    for name in ("learning_rate", "weight_decay", "penalty", "nudge", "steps", "normalise"):
        assert name in str(caught.value)
    assert "copies" not in str(caught.value)


def test_a_name_that_one_rule_has_is_enough():
    assert every("bp", "ep", nudge=["1", "2"]) == ["bp", "ep", "ep[nudge=2.0]"]
    with pytest.raises(UserError, match="nudge"):
        every("bp", "dfa", nudge=["1", "2"])


def test_an_option_that_cannot_be_chosen_cannot_be_varied():
    with pytest.raises(UserError, match="--vary normalise"):
        every("bp", normalise=["none", "sample"])


def test_every_rule_comes_plain_and_under_each_control():
    rules = [choose_rule("bp"), choose_rule("dfa[penalty=1]")]
    assert [choice.text for choice in with_controls(rules, ["shallow", "no_skip"])] == [
        "bp",
        "dfa[penalty=1]",
        "bp[shallow]",
        "dfa[penalty=1,shallow]",
        "bp[no_skip]",
        "dfa[penalty=1,no_skip]",
    ]
    assert with_controls(rules, []) == rules


def test_a_control_that_there_is_not_is_refused_with_those_that_there_are():
    with pytest.raises(OptionError, match=r"'shalow'.*shallow, wide_block, random_targets"):
        with_controls([choose_rule("bp")], ["shalow"])
