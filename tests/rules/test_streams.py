"""Every rule on streams of tokens and images, against oracles that go place after place."""

from __future__ import annotations

import pytest
import torch
from oracles import equilibrium, stream_rules
from rules.rule_contexts import assert_same, assert_same_feedback, in_order
from rules.stream_nets import (
    CLASSES,
    NETS,
    TOKENS,
    context_on,
    drawn,
    error_of,
    gradients_of,
    make,
    shape_of,
    states_of,
)
from torch import Tensor
from torch.nn.functional import one_hot

from depthgauge.nets.layout import Layout
from depthgauge.rules.bp import BP
from depthgauge.rules.choice import choose_rule
from depthgauge.rules.contract import Rule
from depthgauge.rules.credit_bridge import CreditBridge, CreditBridgeOptions
from depthgauge.rules.dfa import DFA, ProjectionOptions
from depthgauge.rules.ep import EP, EPOptions
from depthgauge.rules.fa import FA
from depthgauge.rules.noise import Noise
from depthgauge.rules.normalisation import compute_credit
from depthgauge.rules.offered_context import offer_context
from depthgauge.rules.state_bridge import StateBridge, StateBridgeOptions

EACH_NET = pytest.mark.parametrize("name", NETS)
UNIFORM = pytest.mark.parametrize("name", ["tokens", "images"])


def credit_of(rule: Rule, name: str, feedback: dict[str, Tensor] | None = None) -> list[Tensor]:
    net = make(name)
    own = drawn(rule, net) if feedback is None else feedback
    return in_order(rule.credit(context_on(rule, net, own)))


def states(name: str) -> list[Tensor]:
    net = make(name)
    return [state.detach() for state in states_of(net, net.batch()[0])]


def matrices(feedback: dict[str, Tensor], count: int) -> list[Tensor]:
    """A matrix for each state; without stages the embedding shares the first block's."""
    if "B" in feedback:
        return [feedback["B"][0], *feedback["B"]]
    return [feedback["B.embed"], *(feedback[f"B.{i}"] for i in range(count - 1))]


def source_of(rule: str, name: str) -> Tensor:
    net = make(name)
    error = error_of(net)
    hot = -one_hot(net.batch()[1], CLASSES).double()
    return {"dfa": error, "sdfa": error.sign(), "drtp": hot}[rule]


@EACH_NET
@pytest.mark.parametrize("projection", ["shared", "full"])
@pytest.mark.parametrize("rule", ["dfa", "sdfa", "drtp"])
def test_direct_feedback_is_that_of_the_oracle(rule, projection, name):
    chosen = choose_rule(f"{rule}[projection={projection}]").build()
    feedback = drawn(chosen, make(name))
    slow = stream_rules.direct if projection == "shared" else stream_rules.direct_full
    stream = states(name)
    theirs = slow(source_of(rule, name), matrices(feedback, len(stream)), stream)
    assert_same(credit_of(chosen, name, feedback), theirs, 1e-12)


def test_a_shared_projection_copies_a_samples_error_undivided_to_all_positions():
    blocks = credit_of(DFA(), "tokens")[1:]
    assert all(torch.equal(block, block[:, :1].expand_as(block)) for block in blocks)
    error, feedback = error_of(make("tokens")), drawn(DFA(), make("tokens"))
    assert torch.equal(blocks[1][:, 2], error @ feedback["B"][1].T)


def test_each_token_has_its_own_error_where_each_has_an_answer():
    block = credit_of(DFA(), "answer for each token")[1]
    error = error_of(make("answer for each token"))
    matrix = drawn(DFA(), make("tokens"))["B"][0]
    assert torch.allclose(block[1, 4], error[1, 4] @ matrix.T)


def test_tokens_that_do_not_count_have_no_target_to_project():
    rule, net = choose_rule("drtp").build(), make("answer for each token")
    context = context_on(rule, net, drawn(rule, net))
    context.target = context.target.clone()
    context.target[0, 1] = -100
    credit = rule.credit(context).blocks[0]
    assert not credit[0, 1].any()
    assert credit[0, 2].all()


@EACH_NET
def test_feedback_alignment_hands_the_last_gradient_down_by_the_oracles_chain(name):
    net = make(name)
    feedback, last = drawn(FA(), net), gradients_of(net)[-1] / net.batch()[1].numel()
    own = list(feedback["B"]) if "B" in feedback else [feedback[f"B.{i}"] for i in range(3)]
    assert_same(
        credit_of(FA(), name, feedback), stream_rules.alignment(last, own, states(name)), 1e-12
    )


@EACH_NET
def test_backpropagation_and_noise_have_the_true_gradients_norms(name):
    true = gradients_of(make(name))
    assert_same(credit_of(BP(), name), true, 1e-12)
    context = context_on(Noise(), make(name), {})
    rows = context.noise
    if rows.dim() == 1:
        sizes = [g.numel() for g in true[1:]]
        noise = [r.view(g.shape) for r, g in zip(torch.split(rows, sizes), true[1:], strict=True)]
    else:
        noise = list(rows)
    slow = [stream_rules.shuffled(g, n) for g, n in zip(true[1:], noise, strict=True)]
    assert_same(list(Noise().credit(context).blocks), slow, 1e-12)


@UNIFORM
@pytest.mark.parametrize("options", [{}, {"at": "output", "skip": True, "frequencies": 2}])
def test_the_state_bridge_is_that_of_the_oracle_before_and_after_learning(name, options):
    rule, net = StateBridge(StateBridgeOptions(hidden=6, **options)), make(name)
    feedback, y = drawn(rule, net), net.batch()[1]
    flat = stream_rules.FlatNet(net, states(name)[0].shape[1:])
    slow = stream_rules.StreamStateBridge(flat, feedback, rule.options)
    whole = stream_rules.flat(states(name))
    ours = [part.flatten(1) for part in in_order(rule.credit(context_on(rule, net, feedback)))]
    assert_same(ours, slow.credit(whole, y))
    slow.learn(whole, y)
    assert_same_feedback(feedback | rule.learn(context_on(rule, net, feedback)), slow.kept())


@UNIFORM
def test_the_credit_bridge_is_that_of_the_oracle_before_and_after_learning(name):
    options = CreditBridgeOptions(hidden=6, frequencies=1, copies=2)
    rule, net = CreditBridge(options), make(name)
    feedback, y = drawn(rule, net), net.batch()[1]
    flat = stream_rules.FlatNet(net, states(name)[0].shape[1:])
    slow = stream_rules.StreamCreditBridge(flat, feedback, rule.options)
    whole, context = stream_rules.flat(states(name)), context_on(rule, net, feedback)
    assert_same(
        [part.flatten(1) for part in in_order(rule.credit(context))], slow.credit(whole, y, 1.0)
    )
    slow.learn(whole, y, context.noise.flatten(3))
    assert_same_feedback(feedback | rule.learn(context), slow.kept())


def test_during_its_warm_up_the_credit_bridge_gives_dfas_credit():
    rule, net = CreditBridge(CreditBridgeOptions(hidden=6)), make("images")
    feedback = drawn(rule, net)
    early = in_order(rule.credit(context_on(rule, net, feedback, progress=0.0)))
    assert_same(early, in_order(DFA().credit(context_on(DFA(), net, feedback))), 1e-14)


@UNIFORM
@pytest.mark.parametrize("form", ["error", "displacement"])
def test_equilibrium_propagation_is_that_of_the_energys_own_descent(name, form):
    rule, net = EP(EPOptions(credit=form)), make(name)
    flat = stream_rules.FlatNet(net, states(name)[0].shape[1:])
    theirs = equilibrium.credit(flat, *net.batch(), rule.options)
    ours = [part.flatten(1) for part in in_order(rule.credit(context_on(rule, net, {})))]
    assert_same(ours, theirs, 1e-9)


@EACH_NET
@pytest.mark.parametrize("how", ["sample", "batch"])
def test_credit_is_normalised_over_all_axes(name, how):
    rule, net = DFA(ProjectionOptions(normalise=how, epsilon=0.0)), make(name)
    for part in in_order(compute_credit(rule, context_on(rule, net, drawn(rule, net)))):
        squares = part.square()
        means = squares.flatten(1).mean(1) if how == "sample" else squares.mean().unsqueeze(0)
        assert torch.allclose(means, torch.ones_like(means))


@pytest.mark.parametrize("rule", ["state_bridge", "credit_bridge"])
def test_a_bridge_says_why_it_does_not_train_stages(rule):
    shape = shape_of(make("stages"))
    sentence = choose_rule(rule).build().why_not(shape)
    assert sentence == (
        f"the rule {rule} has one network for all states, which must have one shape; here h_0 has "
        "the shape (5, 4, 4) and h_3 the shape (7, 2, 2)"
    )
    assert choose_rule(rule).build().why_not(shape_of(make("images"))) is None


def test_the_shape_of_a_network_tells_features_and_positions_of_each_state():
    shape = shape_of(make("stages"))
    assert [shape.features(state) for state in range(4)] == [5, 5, 5, 7]
    assert [shape.positions(state) for state in range(4)] == [16, 16, 16, 4]
    assert (shape.width, shape.error_width, shape.num_blocks) == (7, CLASSES, 3)
    each = shape_of(make("answer for each token"))
    assert each.outputs == (TOKENS, CLASSES)
    assert each.positions(0) == TOKENS


def turned(tensor: Tensor) -> Tensor:
    """With tokens first and samples second, or back."""
    return tensor.transpose(0, 1)


@pytest.mark.parametrize("name", ["tokens", "answer for each token"])
@pytest.mark.parametrize(
    "rule",
    [
        *("bp", "fa", "dfa[normalise=batch]", "dfa[projection=full]", "sdfa", "drtp", "ep"),
        *("state_bridge[hidden=6]", "credit_bridge[hidden=6]"),
    ],
)
def test_samples_may_be_on_the_second_axis(name, rule):
    chosen, net = choose_rule(rule).build(), make(name)
    feedback = drawn(chosen, net)
    plain = context_on(chosen, net, feedback)
    parts = {
        "error": lambda: plain.error,
        "gradient": lambda: [turned(gradient) for gradient in plain.gradient],
        "readout": lambda: lambda h: net.readout(turned(h)),
        "blocks": lambda: [lambda h, b=block: turned(b(turned(h))) for block in net.blocks],
    }
    noise = None if chosen.noise_shape(plain.states) is None else plain.noise.transpose(2, 3)
    other = offer_context(
        chosen,
        [turned(state) for state in plain.states],
        target=plain.target,
        feedback=feedback,
        progress=plain.progress,
        offers=parts,
        noise=noise,
        layout=Layout(sample_axis=1),
        loss=plain.loss,
    )
    expected = in_order(compute_credit(chosen, plain))
    found = [turned(part) for part in in_order(compute_credit(chosen, other))]
    assert_same(found, expected, 1e-9)
    assert_same_feedback(chosen.learn(other), chosen.learn(plain))
