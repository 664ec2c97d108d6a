"""The State Bridge against an oracle that goes sample by sample."""

from __future__ import annotations

import math

import pytest
import torch
from gauges.small_networks import make_net
from oracles.bridges import SlowStateBridge
from rules.rule_contexts import (
    EACH_SHAPE,
    assert_same,
    assert_same_feedback,
    context_on,
    double_batches,
    double_net,
    drawn,
    gradients_of,
    in_order,
    learned,
    states_of,
)

from depthgauge.nets.net_shape import NetShape
from depthgauge.rules.state_bridge import StateBridge, StateBridgeOptions

SETTINGS = {
    "as published": {},
    "at the output": {"at": "output"},
    "skip": {"skip": True},
    "waves": {"frequencies": 3},
    "one layer": {"layers": 1},
    "two layers, all changed": {"layers": 2, "at": "output", "skip": True, "frequencies": 1},
}


def make_rule(**options) -> StateBridge:
    return StateBridge(StateBridgeOptions(**{"hidden": 6, **options}))


@EACH_SHAPE
@pytest.mark.parametrize("options", SETTINGS.values(), ids=SETTINGS)
def test_credit_is_that_of_the_oracle(options, shape):
    net, rule, (batch,) = double_net(**shape), make_rule(**options), double_batches(5)
    feedback = drawn(rule, net)
    ours = in_order(rule.credit(context_on(rule, net, batch, feedback)))
    slow = SlowStateBridge(net, feedback, rule.options)
    assert_same(ours, slow.credit(states_of(net, batch[0]), batch[1]))


@pytest.mark.parametrize("options", SETTINGS.values(), ids=SETTINGS)
def test_after_several_batches_the_bridge_is_that_of_adam_and_autograd(options):
    net, rule = double_net(), make_rule(rate=0.01, **options)
    batches = double_batches(4, 5, 3, 4)
    slow = SlowStateBridge(net, drawn(rule, net), rule.options)
    for x, y in batches:
        slow.learn(states_of(net, x), y)
    assert_same_feedback(learned(rule, net, batches), slow.kept())


def test_at_the_output_of_the_last_block_the_credit_is_the_true_gradient():
    net, rule, (batch,) = double_net(), make_rule(at="output"), double_batches(5)
    credit = rule.credit(context_on(rule, net, batch, drawn(rule, net)))
    assert_same([credit.blocks[-1]], gradients_of(net, batch)[-1:])


def test_the_embedding_and_the_first_block_share_their_credit_at_the_input():
    net, rule, (batch,) = double_net(), make_rule(), double_batches(5)
    credit = rule.credit(context_on(rule, net, batch, drawn(rule, net)))
    assert torch.equal(credit.embed, credit.blocks[0])
    assert not torch.allclose(credit.blocks[0], credit.blocks[1])


def test_without_blocks_the_credit_is_the_true_gradient_and_nothing_is_learned():
    net, rule, (batch,) = double_net(blocks=0), make_rule(), double_batches(5)
    context = context_on(rule, net, batch, drawn(rule, net))
    credit = rule.credit(context)
    assert credit.blocks == []
    assert_same([credit.embed], gradients_of(net, batch))
    assert rule.learn(context) == {}


def test_the_bridge_starts_like_a_pytorch_network_and_comes_from_the_generator():
    net, rule = make_net(width=50, classes=4), make_rule(hidden=40, frequencies=2)
    state = torch.get_rng_state()
    first, again = (
        rule.feedback(NetShape.of(net), torch.Generator().manual_seed(7)) for _ in range(2)
    )
    other = rule.feedback(NetShape.of(net), torch.Generator().manual_seed(8))
    assert torch.equal(torch.get_rng_state(), state)
    shapes = {name: tuple(t.shape) for name, t in first.items() if name.startswith("G.")}
    inputs = 50 + 1 + 2 * 2 + 4
    assert shapes == {
        "G.0.weight": (40, inputs),
        "G.0.bias": (40,),
        "G.1.weight": (40, 40),
        "G.1.bias": (40,),
        "G.2.weight": (50, 40),
        "G.2.bias": (50,),
    }
    for name in shapes:
        assert torch.equal(first[name], again[name])
        assert not torch.equal(first[name], other[name])
        assert not first[f"first.{name}"].any()
        assert not first[f"second.{name}"].any()
    assert first["steps.G"] == 0
    weight = first["G.0.weight"]
    assert weight.abs().max() <= 1 / math.sqrt(inputs)
    assert float(weight.std()) == pytest.approx(1 / math.sqrt(3 * inputs), rel=0.05)
