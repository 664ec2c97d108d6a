"""Bridges on a stream that has grown: they see its direction, in units of its size."""

from __future__ import annotations

import pytest
import torch
from gauges.small_networks import make_net
from rules.rule_contexts import (
    assert_same,
    context_on,
    double_batches,
    double_net,
    drawn,
    in_order,
    scaled,
)

from depthgauge.rules.credit_bridge import CreditBridge, CreditBridgeOptions
from depthgauge.rules.state_bridge import StateBridge, StateBridgeOptions

RULES = {
    "state bridge": StateBridge(StateBridgeOptions(hidden=6)),
    "state bridge with a skip": StateBridge(StateBridgeOptions(hidden=6, skip=True)),
    "credit bridge": CreditBridge(CreditBridgeOptions(hidden=6)),
}
EACH_RULE = pytest.mark.parametrize("rule", RULES.values(), ids=RULES)


@EACH_RULE
def test_on_a_stream_a_million_times_as_large_the_credit_is_a_million_times_as_small(rule):
    net, (batch,) = double_net(), double_batches(5)
    context = context_on(rule, net, batch, drawn(rule, net))
    usual, large = (in_order(rule.credit(scaled(rule, context, f))) for f in (1.0, 1e6))
    assert_same([1e6 * credit for credit in large], usual)


@EACH_RULE
@pytest.mark.parametrize("factor", [1e-9, 1e6, 1e12])
@torch.no_grad()
def test_in_float32_a_stream_of_another_size_is_learned_like_a_usual_one(factor, rule):
    net, ((x, y),) = make_net(), double_batches(16)
    context = context_on(rule, net, (x.float(), y), drawn(rule, net))
    usual, other = (rule.learn(scaled(rule, context, times)) for times in (1.0, factor))
    assert all(bool(tensor.isfinite().all()) for tensor in other.values())
    weights = [name for name in usual if name.endswith("weight") and "second" not in name]
    assert len(weights) >= 6
    assert_same([other[name] for name in weights], [usual[name] for name in weights], 1e-3)
