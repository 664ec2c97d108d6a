"""Sign-DFA: the formula, and the quick way to its null."""

from __future__ import annotations

import torch
from gauges.small_networks import make_net
from rules.projecting_rules import assert_null_is_the_same_the_quick_way
from rules.rule_contexts import context_on, double_batches, drawn

from depthgauge.nets.net_shape import NetShape
from depthgauge.rules.contract import Context
from depthgauge.rules.dfa import DFA
from depthgauge.rules.sdfa import SignDFA

MATRICES = torch.tensor([[[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]], [[3.0, 0.0, 0.0], [0.0, 5.0, 7.0]]])
STATES = [torch.zeros(2, 2)] * 3


def test_the_sign_of_the_error_is_projected_with_each_blocks_matrix():
    error = torch.tensor([[-0.9, 0.3, 0.6], [0.01, 0.0, -0.01]])
    context = Context(STATES, torch.tensor([0, 2]), {"B": MATRICES}, 0.0, {"error": error})
    credit = SignDFA().credit(context)
    assert credit.blocks[0].tolist() == [[5.0, 40.0], [-3.0, -24.0]]
    assert credit.blocks[1].tolist() == [[-3.0, 12.0], [3.0, -7.0]]
    assert credit.embed.tolist() == credit.blocks[0].tolist()


def test_all_samples_of_a_class_are_given_the_same():
    net, rule = make_net(dtype=torch.float64), SignDFA()
    ((x, y),) = double_batches(20)
    credit = rule.credit(context_on(rule, net, (x, y), drawn(rule, net)))
    for label in y.unique():
        rows = credit.blocks[1][y == label]
        assert torch.equal(rows, rows[:1].expand_as(rows))
    assert len(credit.blocks[1].unique(dim=0)) == len(y.unique())


def test_its_matrices_are_those_of_dfa():
    net = make_net()
    ours, theirs = (
        rule.feedback(NetShape.of(net), torch.Generator().manual_seed(3))["B"]
        for rule in (SignDFA(), DFA())
    )
    assert torch.equal(ours, theirs)


def test_without_blocks_the_embedding_has_its_credit():
    net, rule, (batch,) = make_net(blocks=0, dtype=torch.float64), SignDFA(), double_batches(5)
    feedback = drawn(rule, net)
    context = context_on(rule, net, batch, feedback)
    credit = rule.credit(context)
    assert list(credit.blocks) == []
    assert torch.equal(credit.embed, context.error.sign() @ feedback["B"][0].T)
    assert rule.learn(context) == {}


def test_the_null_is_the_same_the_quick_way():
    assert_null_is_the_same_the_quick_way(SignDFA)
