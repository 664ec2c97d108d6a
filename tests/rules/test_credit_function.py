"""The credit of a rule on a network that is being read is what training would apply."""

from __future__ import annotations

import pytest
import torch
from gauges.small_networks import make_batches, make_net, random, stream_times
from rules.example_rules import GradientByHand, Peeking, Recording
from rules.rule_contexts import drawn, gradients_of
from torch import Tensor

from depthgauge.losses.cross_entropy import CrossEntropy
from depthgauge.losses.of_runs import value_and_error_of_runs
from depthgauge.nets.batch_view import BatchView
from depthgauge.nets.net_shape import NetShape
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.nets.stacked.network import StackedResidualMLP
from depthgauge.nets.stream_reader import StreamReader
from depthgauge.rules.bp import BP
from depthgauge.rules.contract import Context, Credit, Rule, RuleOptions
from depthgauge.rules.credit_function import formed_credit, make_context, rule_credit
from depthgauge.rules.dfa import DFA
from depthgauge.rules.fa import FA
from depthgauge.rules.normalisation import compute_credit, normalise
from depthgauge.training.stacked_mlp.lifted_rule import LiftedRule, Step

NETS = {
    "plain": lambda: make_net(dtype=torch.float64),
    "no skip": lambda: make_net(dtype=torch.float64, residual_add=False),
    "no last norm": lambda: make_net(dtype=torch.float64, terminal_norm=False),
    "a large stream": lambda: stream_times(make_net(dtype=torch.float64), 1e6),
}
EACH_NET = pytest.mark.parametrize("kind", NETS)


def seen(net: ResidualMLP) -> BatchView:
    return StreamReader(net).see(*make_batches(7, dtype=torch.float64)[0])


def in_training(rule: Rule, net: ResidualMLP, feedback: dict[str, Tensor]) -> list[Tensor]:
    """What the engine applies on the same batch, to a cohort of one."""
    x, y = make_batches(7, dtype=torch.float64)[0]
    stacked = StackedResidualMLP([net], [0], [net.num_blocks], torch.float64)
    trace = stacked.forward(x.unsqueeze(0))
    _, error = value_and_error_of_runs(CrossEntropy(), trace.logits, y.unsqueeze(0))
    lifted = LiftedRule(rule, stacked, [feedback], runs=[0], seeds=[0])
    blocks, embed = lifted(Step(trace, error, y.unsqueeze(0), 1.0))
    return [credit[0] for credit in (embed, *blocks)]


def by_autograd(net: ResidualMLP) -> list[Tensor]:
    return gradients_of(net, make_batches(7, dtype=torch.float64)[0])


@EACH_NET
def test_backpropagation_has_the_true_gradients(kind):
    net = NETS[kind]()
    credit = rule_credit(BP(), {})(seen(net))
    torch.testing.assert_close(credit, by_autograd(net), rtol=1e-9, atol=1e-20)


@pytest.mark.parametrize("normalise", ["sample", "batch", "none"])
@pytest.mark.parametrize("rule_class", [FA, DFA])
@EACH_NET
def test_a_local_rule_has_the_credit_that_training_applies(kind, rule_class, normalise):
    net, rule = NETS[kind](), rule_class(RuleOptions(normalise=normalise))
    feedback = drawn(rule, net)
    credit = rule_credit(rule, feedback)(seen(net))
    expected = in_training(rule, net, feedback)
    assert len(credit) == net.num_blocks + 1
    assert all(tensor.abs().max() > 0 for tensor in expected)
    torch.testing.assert_close(credit, expected, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("rule_class", [FA, DFA])
def test_the_credit_as_formed_is_that_of_the_rule_without_normalisation(rule_class):
    net, rule = NETS["plain"](), rule_class()
    feedback = drawn(rule, net)
    formed = formed_credit(rule, feedback)(seen(net))
    unnormalised = rule_credit(rule_class(RuleOptions(normalise="none")), feedback)(seen(net))
    torch.testing.assert_close(formed, unnormalised, rtol=0, atol=0)
    sizes = formed[-1].square().mean(-1).sqrt()
    assert sizes.max() > 1.01 * sizes.min()


@pytest.mark.parametrize("rule", [FA(), DFA()], ids=["fa", "dfa"])
def test_in_float32_too(rule):
    net = make_net()
    feedback = drawn(rule, net)
    credit = rule_credit(rule, feedback)(seen(net))
    assert {tensor.dtype for tensor in credit} == {torch.float32}
    double = {name: tensor.double() for name, tensor in feedback.items()}
    expected = in_training(rule, net.double(), double)
    torch.testing.assert_close([c.double() for c in credit], expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("rule", [FA(), DFA()], ids=["fa", "dfa"])
def test_feedback_as_it_was_drawn_serves_a_network_in_float64(rule):
    net = NETS["plain"]()
    as_drawn = rule.feedback(NetShape.of(net), torch.Generator().manual_seed(3))
    credit = rule_credit(rule, as_drawn)(seen(net))
    torch.testing.assert_close(credit, in_training(rule, net, drawn(rule, net)))


def test_a_rule_may_use_the_blocks_and_the_readout():
    net = NETS["plain"]()
    credit = rule_credit(GradientByHand(), {})(seen(net))
    torch.testing.assert_close(credit, by_autograd(net), rtol=1e-9, atol=1e-20)


def test_a_rule_is_told_that_training_is_over():
    net, rule = NETS["plain"](), Recording()
    rule_credit(rule, {})(seen(net))
    assert rule.progress == [1.0]


def test_a_rule_cannot_peek_at_what_it_did_not_declare():
    net = NETS["plain"]()
    with pytest.raises(LookupError, match="uses 'gradient', which its"):
        rule_credit(Peeking(), {})(seen(net))


def test_asking_for_credit_leaves_no_gradients_behind():
    net = NETS["plain"]()
    credit = rule_credit(FA(), drawn(FA(), net))(seen(net))
    assert not any(tensor.requires_grad for tensor in credit)
    assert all(parameter.grad is None for parameter in net.parameters())


@EACH_NET
def test_the_source_of_dfa_times_its_matrices_is_its_credit(kind):
    net, rule = NETS[kind](), DFA(RuleOptions(normalise="none"))
    feedback, batch = drawn(rule, net), seen(NETS[kind]())
    source = rule.projected(make_context(rule, batch, feedback))
    embed, *blocks = rule_credit(rule, feedback)(batch)
    assert source.shape == (7, 4)
    torch.testing.assert_close([source @ matrix.T for matrix in feedback["B"]], blocks)
    torch.testing.assert_close(source @ feedback["B"][0].T, embed)


@pytest.mark.parametrize("rule", [BP(), FA()], ids=["bp", "fa"])
def test_a_rule_that_projects_nothing_has_no_source(rule):
    net = NETS["plain"]()
    assert rule.projected(make_context(rule, seen(net), drawn(rule, net))) is None


def test_normalisation_divides_by_the_rms_and_epsilon():
    credit = torch.tensor([[3.0, 4.0], [0.0, 0.0], [6.0, 8.0]], dtype=torch.float64)
    each = normalise(credit, "sample", 0.5)
    rms = 12.5**0.5
    expected = torch.stack([credit[0] / (rms + 0.5), credit[1], credit[2] / (2 * rms + 0.5)])
    torch.testing.assert_close(each, expected)
    together = (125 / 6) ** 0.5
    torch.testing.assert_close(normalise(credit, "batch", 0.5), credit / (together + 0.5))
    assert normalise(credit, "none", 0.5) is credit


def test_credit_far_below_epsilon_is_hardly_normalised():
    tiny = 1e-12 * random(5, 8, dtype=torch.float64)
    torch.testing.assert_close(normalise(tiny, "sample", 1e-6), tiny / 1e-6, rtol=1e-5, atol=0)


class Short(Rule):
    """Forgets the last block."""

    name, summary = "short", "one credit too few"

    def credit(self, context: Context) -> Credit:
        return Credit(blocks=context.states[1:-1], embed=context.states[0])


def test_credit_of_the_wrong_shape_names_the_rule():
    states = [torch.zeros(2, 3)] * 3
    context = Context(states, torch.zeros(2), {}, 0.0, {})
    with pytest.raises(
        ValueError, match=r"the rule short returned credit of the shapes .*2 blocks"
    ):
        compute_credit(Short(), context)
