"""Rules at several settings, and under controls."""

from __future__ import annotations

import pytest

from depthgauge.errors import UserError
from depthgauge.rules.choice import choose_rule
from depthgauge.studies.vary import check_variations, settings_of, with_controls


def labels(rule: str, *variations: str) -> list[str]:
    return [choose_rule(text).label for text in settings_of(rule, variations)]


def test_every_combination_is_a_setting_of_its_own():
    assert settings_of("dfa", ["normalise=sample,batch", "penalty=0,0.01"]) == [
        "dfa[normalise=sample,penalty=0]",
        "dfa[normalise=sample,penalty=0.01]",
        "dfa[normalise=batch,penalty=0]",
        "dfa[normalise=batch,penalty=0.01]",
    ]
    assert labels("dfa", "normalise=sample,batch", "penalty=0,0.01") == [
        "dfa",
        "dfa[penalty=0.01]",
        "dfa[normalise=batch]",
        "dfa[normalise=batch,penalty=0.01]",
    ]


def test_a_rule_without_such_an_option_is_left_as_it_is():
    assert settings_of("bp", ["normalise=sample,batch", "nudge=1,2"]) == ["bp"]
    assert settings_of("dfa", ["normalise=none,batch", "nudge=1,2"]) == [
        "dfa[normalise=none]",
        "dfa[normalise=batch]",
    ]


def test_options_of_training_are_varied_for_every_rule():
    for rule in ("bp", "fa", "ep", "state_bridge"):
        assert settings_of(rule, ["learning_rate=0.1,0.2"]) == [
            f"{rule}[learning_rate=0.1]",
            f"{rule}[learning_rate=0.2]",
        ]


def test_what_the_rule_was_given_already_stays():
    assert settings_of("dfa[epsilon=0.5]", ["penalty=1,2"]) == [
        "dfa[epsilon=0.5,penalty=1]",
        "dfa[epsilon=0.5,penalty=2]",
    ]


def test_without_variations_there_is_one_setting():
    assert settings_of("dfa[epsilon=0.5]", []) == ["dfa[epsilon=0.5]"]


def test_spaces_do_not_matter():
    assert settings_of("fa", ["epsilon = 0.1 , 0.2"]) == ["fa[epsilon=0.1]", "fa[epsilon=0.2]"]


def test_a_name_that_no_rule_has_is_refused_with_those_that_there_are():
    with pytest.raises(UserError, match="--vary speed") as caught:
        check_variations(["bp", "ep"], ["penalty=0,1", "speed=1,2"])
    for name in ("learning_rate", "weight_decay", "penalty", "nudge", "steps", "normalise"):
        assert name in str(caught.value)
    assert "copies" not in str(caught.value)


def test_a_name_that_one_rule_has_is_enough():
    check_variations(["bp", "ep"], ["nudge=1,2"])
    with pytest.raises(UserError, match="nudge"):
        check_variations(["bp", "dfa"], ["nudge=1,2"])


def test_an_option_that_cannot_be_chosen_cannot_be_varied():
    with pytest.raises(UserError, match="--vary normalise"):
        check_variations(["bp"], ["normalise=none,sample"])


def test_a_name_is_varied_once():
    with pytest.raises(UserError, match="penalty twice"):
        check_variations(["dfa"], ["penalty=0,1", "penalty=2"])


@pytest.mark.parametrize("variation", ["penalty", "penalty=", "=1", "penalty=1,,2", "penalty=1,"])
def test_what_cannot_be_read_is_shown_as_it_was_written(variation):
    with pytest.raises(UserError, match="NAME=VALUE") as caught:
        check_variations(["dfa"], [variation])
    assert f"--vary {variation};" in str(caught.value)


def test_every_rule_comes_plain_and_under_each_control():
    assert with_controls(["bp", "dfa[penalty=1]"], ["shallow", "no_skip"]) == [
        "bp",
        "dfa[penalty=1]",
        "bp[shallow]",
        "dfa[penalty=1,shallow]",
        "bp[no_skip]",
        "dfa[penalty=1,no_skip]",
    ]
    assert with_controls(["bp"], []) == ["bp"]


def test_a_control_that_there_is_not_is_refused_with_those_that_there_are():
    with pytest.raises(UserError, match=r"'shalow'.*shallow, wide_block, random_targets"):
        with_controls(["bp"], ["shalow"])
