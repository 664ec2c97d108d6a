"""Direct random target projection: the formula, and the quick way to its null."""

from __future__ import annotations

import torch
from gauges.small_networks import make_net
from rules.projecting_rules import assert_null_is_the_same_the_quick_way
from rules.rule_contexts import context_on, double_batches, drawn

from depthgauge.rules.contract import Context
from depthgauge.rules.drtp import DRTP


def test_the_targets_column_of_each_blocks_matrix_with_a_minus():
    matrices = torch.tensor([[[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]], [[3.0, 0.0, 6.0], [0, 5, 7]]])
    states, target = [torch.zeros(2, 2)] * 3, torch.tensor([2, 0])
    credit = DRTP().credit(Context(states, target, {"B": matrices}, 0.0, {}))
    assert credit.blocks[0].tolist() == [[-4.0, -32.0], [-1.0, -8.0]]
    assert credit.blocks[1].tolist() == [[-6.0, -7.0], [-3.0, 0.0]]
    assert credit.embed.tolist() == credit.blocks[0].tolist()


def test_it_asks_for_nothing_and_does_not_see_what_the_network_answers():
    net, rule = make_net(dtype=torch.float64), DRTP()
    ((x, y),) = double_batches(6)
    feedback = drawn(rule, net)
    assert rule.needs == frozenset()
    one, other = (rule.credit(context_on(rule, net, (i, y), feedback)) for i in (x, -3 * x))
    for mine, theirs in zip(one.blocks, other.blocks, strict=True):
        assert torch.equal(mine, theirs)
        assert mine.any()


def test_without_blocks_the_embedding_has_its_credit():
    net, rule = make_net(blocks=0, dtype=torch.float64), DRTP()
    ((x, y),) = double_batches(5)
    feedback = drawn(rule, net)
    context = context_on(rule, net, (x, y), feedback)
    credit = rule.credit(context)
    assert list(credit.blocks) == []
    assert torch.equal(credit.embed, -feedback["B"][0].T[y])
    assert rule.learn(context) == {}


def test_the_null_is_the_same_the_quick_way():
    assert_null_is_the_same_the_quick_way(DRTP)
