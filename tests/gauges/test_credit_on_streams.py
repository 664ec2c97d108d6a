"""Credit of a trained network whose stream has positions: gauges see what training would apply."""

from __future__ import annotations

import pytest
import torch
from nets.cut.stage_net import CLASSES, image_batch, stage_net
from rules import stream_nets
from rules.rule_contexts import assert_same, in_order
from rules.stream_nets import TokenNet, context_on, drawn, gradients_of, make, shape_of
from torch import Tensor

from depthgauge.auditing.null import calibrate_null
from depthgauge.auditing.trained_network import TrainedNetwork
from depthgauge.gauges.alignment import AlignmentGauge
from depthgauge.gauges.nudging import NudgingGauge
from depthgauge.gauges.perturbation import PerturbationGauge
from depthgauge.nets.batch_view import BatchView
from depthgauge.nets.net_shape import NetShape
from depthgauge.nets.stream_reader import StreamReader
from depthgauge.rules.choice import choose_rule
from depthgauge.rules.contract import Rule
from depthgauge.rules.credit_function import rule_credit
from depthgauge.rules.normalisation import compute_credit

RULES = (
    *("bp", "noise", "fa", "dfa", "dfa[projection=full]", "sdfa", "drtp[normalise=batch]"),
    *("state_bridge[hidden=6]", "credit_bridge[hidden=6]", "ep", "ep[credit=displacement]"),
)
NETS = ("tokens", "answer for each token", "images")
DRAWS = 6


def see(net: stream_nets.Residual) -> BatchView:
    return StreamReader(net, "blocks").see(*net.batch())


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", NETS)
def test_gauges_are_given_the_credit_of_training(name, rule):
    chosen, net = choose_rule(rule).build(), make(name)
    feedback, batch = drawn(chosen, net), see(net)
    context = context_on(chosen, net, feedback)
    if chosen.noise_shape(batch.states) is not None and rule == "noise":
        generator = torch.Generator().manual_seed(0)  # a measurement has its own noise
        context._noise = torch.randn(context.noise.shape, generator=generator).double()
    with torch.no_grad():
        expected = in_order(compute_credit(chosen, context))
    assert_same(rule_credit(chosen, feedback)(batch), expected, 1e-9)


def mean_cosines(credit: list[Tensor], gradients: list[Tensor]) -> list[float]:
    """Over all axes of a sample, sample by sample."""
    layers = []
    for a, g in zip(credit, gradients, strict=True):
        pairs = [(x.flatten(), y.flatten()) for x, y in zip(a, g, strict=True)]
        cosines = [float(x @ y) / float((x @ x) * (y @ y)) ** 0.5 for x, y in pairs]
        layers.append(sum(cosines) / len(cosines))
    return layers


@pytest.mark.parametrize("name", NETS)
def test_alignment_is_over_all_axes_of_a_sample(name):
    rule, net = choose_rule("dfa").build(), make(name)
    feedback = drawn(rule, net)
    gauge = AlignmentGauge(rule_credit(rule, feedback))
    gauge.see(see(net))
    credit = in_order(rule.credit(context_on(rule, net, feedback)))
    expected = mean_cosines(credit, gradients_of(net))
    assert gauge.reading().per_layer == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", NETS)
def test_the_true_gradient_foretells_shifts_and_lowers_the_loss(name):
    net = make(name)
    credit = rule_credit(choose_rule("bp").build(), {})
    correlation, nudging = PerturbationGauge(credit), NudgingGauge(credit)
    for gauge in (correlation, nudging):
        gauge.see(see(net))
    assert min(correlation.reading().per_layer) > 0.99
    assert set(nudging.reading().fell) == {1.0}


def slow_null(rule: Rule, net: TokenNet) -> list[list[float]]:
    found = []
    with torch.random.fork_rng(devices=[]):
        for draw in range(DRAWS):
            torch.manual_seed(10_000 + draw)
            fresh = rule.feedback(shape_of(net), torch.default_generator)
            feedback = {name: tensor.double() for name, tensor in fresh.items()}
            credit = in_order(rule.credit(context_on(rule, net, feedback)))
            found.append(mean_cosines(credit, gradients_of(net)))
    return found


@pytest.mark.parametrize(
    "rule", ["fa", "dfa", "dfa[projection=full]", "drtp", "state_bridge[hidden=6]"]
)
@pytest.mark.parametrize("name", NETS)
def test_the_null_is_that_of_fresh_feedback_draw_by_draw(name, rule):
    chosen, net = choose_rule(rule).build(), make(name)
    trained = TrainedNetwork(
        net, chosen, drawn(chosen, net), "here", blocks="blocks", shape=shape_of(net)
    )
    reading = calibrate_null(trained, net.batch(), DRAWS)
    slow = slow_null(chosen, net)
    deep = [sum(layers[1:]) / len(layers[1:]) for layers in slow]
    assert reading.fresh_deep == pytest.approx(deep, abs=1e-6)
    own = in_order(chosen.credit(context_on(chosen, net, trained.feedback)))
    observed = [layer.observed for layer in reading.per_layer]
    assert observed == pytest.approx(mean_cosines(own, gradients_of(net)), abs=1e-6)


def test_by_the_published_convention_a_stage_has_no_cosine_at_its_input():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        net = stage_net().float()
    x, y = image_batch()
    batch = StreamReader(net, "blocks").see(x.float(), y)
    rule = choose_rule("dfa").build()
    shape = NetShape.of_pass(batch.states, batch.logits, CLASSES)
    feedback = rule.feedback(shape, torch.Generator().manual_seed(3))
    gauge = AlignmentGauge(rule_credit(rule, feedback), "published")
    gauge.see(batch)
    reading = gauge.reading()
    assert [cosine is None for cosine in reading.per_layer] == [False, True, False, False, False]
    assert reading.note == "undefined at the input of a block that changes the stream's shape"
