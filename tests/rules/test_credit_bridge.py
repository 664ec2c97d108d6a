"""The Credit Bridge against an oracle that goes sample by sample."""

from __future__ import annotations

import pytest
import torch
from gauges.small_networks import make_net
from oracles.bridges import SlowCreditBridge
from rules.rule_contexts import (
    EACH_SHAPE,
    assert_same,
    assert_same_feedback,
    context_on,
    double_batches,
    double_net,
    drawn,
    in_order,
    learned,
    states_of,
)

from depthgauge.nets.net_shape import NetShape
from depthgauge.rules.credit_bridge import CreditBridge, CreditBridgeOptions
from depthgauge.rules.dfa import DFA

WHAT_IS_LEARNED = {
    "as published": {},
    "without matching": {"matching": 0.0},
    "more matching": {"matching": 3.0},
    "waves": {"frequencies": 2},
    "two layers": {"layers": 2},
    "more noise, fewer copies": {"sigma": 0.7, "copies": 3},
    "colder": {"temperature": 0.02},
    "faster average": {"ema": 0.5},
    "no average": {"ema": 0.0},
}


def make_rule(**options) -> CreditBridge:
    return CreditBridge(CreditBridgeOptions(**{"hidden": 6, **options}))


@EACH_SHAPE
@pytest.mark.parametrize("progress", [0.0, 0.19, 0.2, 1.0])
@pytest.mark.parametrize("frequencies", [0, 3])
def test_credit_is_that_of_the_oracle(frequencies, progress, shape):
    net, rule, (batch,) = double_net(**shape), make_rule(frequencies=frequencies), double_batches(5)
    feedback = drawn(rule, net)
    ours = in_order(rule.credit(context_on(rule, net, batch, feedback, progress=progress)))
    slow = SlowCreditBridge(net, feedback, rule.options)
    assert_same(ours, slow.credit(states_of(net, batch[0]), batch[1], progress))


def test_warm_up_says_how_long_the_credit_is_that_of_dfa():
    for warm_up, direct in [(0.0, False), (0.4, False), (0.5, True)]:
        net, rule, (batch,) = double_net(), make_rule(warm_up=warm_up), double_batches(5)
        context = context_on(rule, net, batch, drawn(rule, net), progress=0.4)
        same = torch.equal(rule.credit(context).blocks[1], DFA().credit(context).blocks[1])
        assert same is direct
        assert (rule.projected(context) is not None) is direct


@pytest.mark.parametrize("options", WHAT_IS_LEARNED.values(), ids=WHAT_IS_LEARNED)
def test_after_several_batches_the_feedback_is_that_of_adam_and_autograd(options):
    assert_learns_like_the_oracle(double_net(), make_rule(rate=0.01, **options))


@EACH_SHAPE
def test_on_other_networks_too(shape):
    assert_learns_like_the_oracle(double_net(**shape), make_rule(rate=0.01))


def assert_learns_like_the_oracle(net, rule) -> None:
    batches = double_batches(4, 5, 3)
    slow = SlowCreditBridge(net, drawn(rule, net), rule.options)
    for seed, batch in enumerate(batches):
        noise = context_on(rule, net, batch, {}, seed=seed).noise
        slow.learn(states_of(net, batch[0]), batch[1], noise)
    assert_same_feedback(learned(rule, net, batches), slow.kept())


def test_v_learns_during_the_warm_up_too():
    net, rule, (batch,) = double_net(), make_rule(), double_batches(5)
    feedback = drawn(rule, net)
    early, late = (
        rule.learn(context_on(rule, net, batch, feedback, progress=progress))
        for progress in (0.0, 0.9)
    )
    assert not torch.equal(early["V.0.weight"], feedback["V.0.weight"])
    assert_same_feedback(early, late)


def test_the_average_starts_at_v_and_the_matrices_are_those_of_dfa():
    net, rule = make_net(), make_rule()
    feedback = rule.feedback(NetShape.of(net), torch.Generator().manual_seed(3))
    direct = DFA().feedback(NetShape.of(net), torch.Generator().manual_seed(3))
    assert torch.equal(feedback["B"], direct["B"])
    for name in ("0.weight", "0.bias", "2.weight"):
        assert torch.equal(feedback[f"A.{name}"], feedback[f"V.{name}"])
        assert feedback[f"A.{name}"] is not feedback[f"V.{name}"]
    assert "steps.A" not in feedback


def test_a_batch_without_any_gradient_leaves_v_finite():
    net, rule, (batch,) = double_net(), make_rule(), double_batches(5)
    with torch.no_grad():
        net.out_head.weight.zero_()
    changed = rule.learn(context_on(rule, net, batch, drawn(rule, net)))
    assert all(bool(tensor.isfinite().all()) for tensor in changed.values())


def test_noise_is_asked_for_each_copy_of_each_blocks_output():
    states = [torch.zeros(7, 8)] * 4
    assert make_rule(copies=5).noise_shape(states) == (5, 3, 7, 8)
