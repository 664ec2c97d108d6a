"""Equilibrium Propagation against its energy, and against the true gradient."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from oracles import equilibrium
from rules.rule_contexts import (
    EACH_SHAPE,
    assert_same,
    context_on,
    cosines,
    double_batches,
    double_net,
    gradients_of,
    in_order,
)
from torch import Tensor

from depthgauge.nets.net_shape import NetShape
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.rules.ep import EP, EPOptions

SETTINGS = {
    "as measured": {},
    "one sweep": {"steps": 1},
    "many small sweeps": {"steps": 12, "step_size": 0.05},
    "weak nudge": {"nudge": 1e-3},
    "strong nudge": {"nudge": 5.0, "step_size": 0.2},
}


def credit_of(net: ResidualMLP, batch, **options) -> list[Tensor]:
    rule = EP(EPOptions(**options))
    return in_order(rule.credit(context_on(rule, net, batch, {})))


@pytest.mark.parametrize("form", ["error", "displacement"])
@EACH_SHAPE
@pytest.mark.parametrize("options", SETTINGS.values(), ids=SETTINGS)
def test_credit_is_that_of_the_energys_own_descent(options, shape, form):
    net, (batch,) = double_net(**shape), double_batches(3)
    chosen = EPOptions(credit=form, **options)
    ours = credit_of(net, batch, **chosen.model_dump())
    assert_same(ours, equilibrium.credit(net, *batch, chosen), 1e-9)


RELAXED = {"steps": 400, "step_size": 0.25}
NUDGES = (1e-1, 1e-2, 1e-3)


def strong_net() -> ResidualMLP:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return ResidualMLP(6, 16, 4, 3, w2_std=0.5).double()


def shown() -> tuple[Tensor, Tensor]:
    """Inputs large enough that the relaxation is quick."""
    ((x, y),) = double_batches(8)
    return 3 * x, y


@pytest.fixture(scope="module")
def relaxed() -> dict[float, list[Tensor]]:
    """The credit at the embedding and at every block, for each strength of the nudge."""
    return {nudge: credit_of(strong_net(), shown(), nudge=nudge, **RELAXED) for nudge in NUDGES}


def test_relaxed_credit_points_along_the_true_gradient_at_every_block(relaxed):
    true = gradients_of(strong_net(), shown())
    assert all(min(cosines(credit, true)) > 0.99 for credit in relaxed.values())


def test_alignment_rises_as_the_nudge_gets_weaker(relaxed):
    true = gradients_of(strong_net(), shown())
    for stronger, weaker in pairwise(NUDGES):
        before, after = (cosines(relaxed[nudge], true) for nudge in (stronger, weaker))
        assert all(late > early for early, late in zip(before, after, strict=True))


def test_relaxed_credit_tends_to_the_gradient_in_size_too(relaxed):
    true = gradients_of(strong_net(), shown())
    apart = [
        max(float((a - g).norm() / g.norm()) for a, g in zip(relaxed[nudge], true, strict=True))
        for nudge in NUDGES
    ]
    assert apart[2] < apart[1] < apart[0]
    assert apart[2] < 1e-2


@pytest.mark.parametrize("nudge", [NUDGES[0], NUDGES[-1]])
def test_the_displacement_stays_away_from_the_gradient_however_weak_the_nudge(nudge):
    credit = credit_of(strong_net(), shown(), nudge=nudge, credit="displacement", **RELAXED)
    assert min(cosines(credit, gradients_of(strong_net(), shown()))[1:]) < 0.95


def test_the_nudge_reaches_the_embedding_in_one_sweep():
    net, (batch,) = strong_net(), double_batches(4)
    once = credit_of(net, batch, steps=1, nudge=1e-3)
    assert all(float(layer.norm(dim=1).min()) > 0 for layer in once)


def test_it_keeps_nothing_and_learns_nothing():
    rule, net, (batch,) = EP(), strong_net(), double_batches(4)
    assert rule.feedback(NetShape.of(net), torch.Generator()) == {}
    assert rule.learn(context_on(rule, net, batch, {})) == {}
    assert rule.options.normalise == "none"


def test_without_blocks_the_relaxed_credit_is_the_gradient_at_the_embedding():
    net, (batch,) = double_net(blocks=0), double_batches(5)
    (credit,) = credit_of(net, batch, nudge=1e-6, **RELAXED)
    assert_same([credit], gradients_of(net, batch), 1e-4)


def test_streams_of_any_size_are_nudged_by_the_same_share():
    net, (batch,) = double_net(blocks=0), double_batches(5)
    (credit,) = credit_of(net, batch, nudge=1.0)
    for parameter in net.embed.parameters():
        parameter.data *= 100
    (of_larger,) = credit_of(net, batch, nudge=1.0)
    assert_same([100 * of_larger], [credit], 1e-3)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3, 1e6])
def test_in_single_precision_streams_of_any_size_get_credit_along_the_gradient(size):
    net, (x, y) = double_net(), shown()
    for name, parameter in net.named_parameters():
        if name.startswith("embed.") or ".fc2." in name:
            parameter.data *= size
    true, single = gradients_of(net, (x, y)), net.float()
    credit = credit_of(single, (x.float(), y))
    assert min(cosines([layer.double() for layer in credit], true)) > 0.9
