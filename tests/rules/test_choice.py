"""A rule with everything that is chosen about it: options of training, controls, its label."""

from __future__ import annotations

from depthgauge.config import NetConfig, Recipe
from depthgauge.controls import CONTROLS, wide_block_hidden
from depthgauge.registry import RULES
from depthgauge.rules.choice import choose_rule, option_names, with_options

NET = NetConfig(width=8, blocks=3)
RECIPE = Recipe(epochs=7, batch_size=9, learning_rate=0.5, weight_decay=0.25)


def test_a_label_tells_what_differs_and_can_be_typed_again():
    for text, label in [
        ("dfa[penalty=0.01]", "dfa[penalty=0.01]"),
        ("bp[penalty=1e-2]", "bp[penalty=0.01]"),
        ("dfa[penalty=0]", "dfa"),
        ("dfa[learning_rate=1e-3]", "dfa"),
        ("dfa[learning_rate=3e-3]", "dfa[learning_rate=0.003]"),
        ("dfa[shallow]", "dfa[shallow]"),
        ("dfa[ wide_block , penalty = 0.5 ]", "dfa[penalty=0.5,wide_block]"),
        (
            "dfa[penalty=0.5,normalise=batch,no_norm]",
            "dfa[normalise=batch,penalty=0.5,no_norm]",
        ),
        ("ep[credit=displacement]", "ep[credit=displacement]"),
        ("state_bridge[skip=true,at=output]", "state_bridge[at=output,skip=True]"),
        ("credit_bridge[matching=0]", "credit_bridge[matching=0.0]"),
    ]:
        choice = choose_rule(text)
        assert choice.label == label
        again = choose_rule(label)
        assert again.label == label
        assert again.build().options == choice.build().options
        assert again.recipe(Recipe()) == choice.recipe(Recipe())
        assert again.net(NET) == choice.net(NET)


def test_options_of_training_change_the_recipe_and_nothing_else():
    choice = choose_rule("dfa[penalty=0.01,learning_rate=0.1]")
    changed = {"penalty": 0.01, "learning_rate": 0.1}
    assert choice.recipe(RECIPE) == RECIPE.model_copy(update=changed)
    assert choice.net(NET) == NET
    assert choice.build().options == choose_rule("dfa").options


def test_what_is_given_counts_even_where_it_is_the_usual_value():
    assert choose_rule("dfa[learning_rate=0.001]").recipe(RECIPE).learning_rate == 0.001
    assert choose_rule("dfa").recipe(RECIPE) == RECIPE


CHANGED = {
    "shallow": {"blocks": 0},
    "wide_block": {"blocks": 1, "hidden": wide_block_hidden(NET)},
    "random_targets": {},
    "no_norm": {"terminal_norm": False},
    "no_skip": {"residual_add": False, "w2_std": 0.5},
}


def test_a_control_changes_the_network_or_the_targets():
    for control in CONTROLS:
        choice = choose_rule(f"fa[{control}]")
        assert choice.control == control
        assert choice.net(NET) == NET.model_copy(update=CHANGED[control])
        targets = "random" if control == "random_targets" else "true"
        assert choice.recipe(RECIPE) == RECIPE.model_copy(update={"targets": targets})
        assert choice.build().options == choose_rule("fa").options


def test_more_can_be_put_into_a_rules_brackets():
    for text, more, expected in [
        ("dfa", [], "dfa"),
        ("dfa", ["shallow"], "dfa[shallow]"),
        ("dfa[]", ["penalty=1"], "dfa[penalty=1]"),
        ("dfa[epsilon=2]", ["penalty=1", "no_norm"], "dfa[epsilon=2,penalty=1,no_norm]"),
        ("dfa[no_norm,epsilon=2]", ["penalty=1"], "dfa[epsilon=2,no_norm,penalty=1]"),
        ("a/my.py:Mine[x=1]", ["shallow"], "a/my.py:Mine[x=1,shallow]"),
    ]:
        assert with_options(text, *more) == expected


def test_every_option_that_can_be_chosen_can_be_typed_at_its_default():
    for name in RULES.built_in:
        usual = choose_rule(name)
        defaults = dict(usual.options)
        typed = [f"{option}={defaults[option]}" for option in option_names(usual.rule_class)]
        again = choose_rule(with_options(name, *typed))
        assert again.options == usual.options
        assert again.label == name
    assert option_names(choose_rule("bp").rule_class) == []
