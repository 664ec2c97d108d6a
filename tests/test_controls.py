"""Controls: each takes one explanation away, and leaves everything else as it is."""

from __future__ import annotations

from itertools import product

import pytest
from training.small_runs import make_task

from depthgauge.config import NetConfig, Recipe
from depthgauge.controls import CONTROLS, control_in, wide_block_hidden
from depthgauge.nets.registry import initial_net
from depthgauge.nets.residual_mlp import Block
from depthgauge.rules.choice import choose_rule

NET = NetConfig(width=12, blocks=3)
RECIPE = Recipe(epochs=7, batch_size=9, learning_rate=0.02, penalty=0.5)
NET_CHANGES = {
    "shallow": {"blocks": 0},
    "wide_block": {"blocks": 1, "hidden": 39},
    "random_targets": {},
    "no_norm": {"terminal_norm": False},
    "no_skip": {"residual_add": False, "w2_std": 0.5},
}


WIDTHS = (1, 2, 3, 8, 17, 64)


def size(block: Block) -> int:
    return sum(parameter.numel() for parameter in block.parameters())


def test_one_wide_block_has_as_many_parameters_as_all_blocks():
    for width, blocks, hidden in product(WIDTHS, (1, 2, 3, 4, 9), (None, 1, 5, 40)):
        net = NetConfig(width=width, blocks=blocks, hidden=hidden)
        wide = CONTROLS["wide_block"].net(net)
        assert wide.blocks == 1
        wanted = blocks * size(Block(width, hidden=hidden))
        unit = size(Block(width, hidden=2)) - size(Block(width, hidden=1))
        assert abs(size(Block(width, hidden=wide.hidden)) - wanted) <= unit / 2, net


def test_the_wide_block_of_the_published_network():
    assert wide_block_hidden(NetConfig(width=256, blocks=4)) == 1028


def test_of_one_block_the_wide_block_is_that_block():
    assert wide_block_hidden(NetConfig(width=6, blocks=1)) == 6
    assert wide_block_hidden(NetConfig(width=6, blocks=1, hidden=9)) == 9


def test_without_blocks_the_wide_block_is_as_small_as_can_be():
    assert wide_block_hidden(NetConfig(width=6, blocks=0)) == 1


def test_these_are_the_controls():
    assert list(CONTROLS) == list(NET_CHANGES)
    assert all(control.summary for control in CONTROLS.values())


def test_a_control_changes_the_network_in_one_thing():
    for name in CONTROLS:
        changed = choose_rule(f"dfa[{name}]").net(NET)
        assert changed.model_dump() == NET.model_dump() | NET_CHANGES[name]


def test_only_random_targets_change_the_recipe():
    for name in CONTROLS:
        changed = choose_rule(f"dfa[{name}]").recipe(RECIPE)
        expected = {"targets": "random"} if name == "random_targets" else {}
        assert changed.model_dump() == RECIPE.model_dump() | expected


def test_a_control_goes_with_options_of_training():
    choice = choose_rule("dfa[penalty=0.25,random_targets,learning_rate=0.5]")
    expected = {"targets": "random", "penalty": 0.25, "learning_rate": 0.5}
    assert choice.recipe(RECIPE) == RECIPE.model_copy(update=expected)
    assert choice.label == "dfa[learning_rate=0.5,penalty=0.25,random_targets]"


def test_options_of_training_are_one_setting_in_whatever_order_they_are_typed():
    one = choose_rule("dfa[penalty=1,learning_rate=1]")
    other = choose_rule("dfa[learning_rate=1,penalty=1]")
    assert one.label == other.label == "dfa[learning_rate=1.0,penalty=1.0]"
    assert list(one.training) == list(other.training)


def test_a_label_says_its_control():
    for label, control in [
        ("bp[shallow]", "shallow"),
        ("dfa[penalty=0.01,wide_block]", "wide_block"),
        ("shallow", None),
        ("dfa[penalty=0.01]", None),
        ("dfa", None),
    ]:
        assert control_in(label) == control


def test_without_a_control_nothing_changes():
    choice = choose_rule("dfa[normalise=batch]")
    assert choice.net(NET) is NET
    assert choice.recipe(RECIPE) == RECIPE


def test_the_networks_are_built_as_they_are_configured():
    def build(control: str):
        return initial_net(CONTROLS[control].net(NET), make_task(), seed=1)

    assert len(build("shallow").blocks) == 0
    (wide,) = build("wide_block").blocks
    assert (wide.fc1.weight.shape, wide.fc2.weight.shape) == ((39, 12), (12, 39))
    assert list(build("no_norm").out_ln.parameters()) == []
    no_skip = build("no_skip")
    assert no_skip.residual_add is False
    assert no_skip.blocks[0].fc2.weight.std().item() == pytest.approx(0.5, rel=0.2)
