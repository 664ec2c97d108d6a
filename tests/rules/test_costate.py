"""Which rules know the costate of a linear residual network, the gradient at a block's input."""

from __future__ import annotations

import pytest
import torch
from rules.linear_network import LinearNetwork
from rules.rule_contexts import cosines

from depthgauge.rules.contract import Rule
from depthgauge.rules.credit_bridge import CreditBridge, CreditBridgeOptions
from depthgauge.rules.dfa import DFA
from depthgauge.rules.state_bridge import StateBridge, StateBridgeOptions

HIDDEN = 128


def costate_cosines(rule: Rule, batches: int) -> list[float]:
    """At every block, with the gradient at its input, on samples that were not learned from."""
    net = LinearNetwork()
    feedback = net.trained_feedback(rule, batches)
    context, gradients = net.fresh_batch(rule, feedback, 512)
    return cosines(list(rule.credit(context).blocks), gradients[:-1])


def test_a_trained_state_bridge_knows_the_costate():
    rule = StateBridge(StateBridgeOptions(hidden=HIDDEN))
    assert max(map(abs, costate_cosines(rule, 0))) < 0.3
    assert min(costate_cosines(rule, 400)) > 0.9


def test_a_trained_credit_bridge_knows_the_costate():
    rule = CreditBridge(CreditBridgeOptions(hidden=HIDDEN))
    assert min(costate_cosines(rule, 400)) > 0.9


@pytest.mark.slow
def test_without_matching_its_slope_at_the_end_a_credit_bridge_knows_nothing_of_it():
    rule = CreditBridge(CreditBridgeOptions(hidden=HIDDEN, matching=0.0))
    assert max(map(abs, costate_cosines(rule, 400))) < 0.1


def test_direct_feedback_knows_nothing_of_it():
    net, rule = LinearNetwork(), DFA()
    found = []
    for seed in range(40):
        feedback = rule.feedback(net.shape, torch.Generator().manual_seed(seed))
        context, gradients = net.fresh_batch(rule, feedback, 64)
        found.append(cosines(list(rule.credit(context).blocks), gradients[1:]))
    assert torch.tensor(found).mean(0).abs().max() < 0.05
