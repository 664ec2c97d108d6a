"""Rules asked directly, without the engine: contexts of a small network on one batch."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import torch
from gauges.small_networks import make_batches, make_net
from torch import Tensor
from torch.nn.functional import cross_entropy, one_hot
from training.small_runs import relative_difference

from depthgauge.nets.net_shape import NetShape
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.rules.contract import Context, Credit, Rule

Batch = tuple[Tensor, Tensor]

SHAPES = {
    "plain": {},
    "no skip": {"residual_add": False},
    "no last norm": {"terminal_norm": False},
    "no blocks": {"blocks": 0},
}
EACH_SHAPE = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)


def double_net(**shape: int | bool) -> ResidualMLP:
    return make_net(dtype=torch.float64, **shape)


def drawn(rule: Rule, net: ResidualMLP) -> dict[str, Tensor]:
    """Draw the rule's feedback, in the precision of the network."""
    feedback = rule.feedback(NetShape.of(net), torch.Generator().manual_seed(3))
    return {name: tensor.to(net.embed.weight.dtype) for name, tensor in feedback.items()}


def states_of(net: ResidualMLP, x: Tensor) -> list[Tensor]:
    return [state.detach() for state in net.trace(x).states]


def gradients_of(net: ResidualMLP, batch: Batch) -> list[Tensor]:
    """Return g_0 … g_L of each sample's own loss by autograd."""
    x, y = batch
    trace = net.trace(x)
    return list(torch.autograd.grad(cross_entropy(trace.logits, y, reduction="sum"), trace.states))


def context_on(
    rule: Rule,
    net: ResidualMLP,
    batch: Batch,
    feedback: Mapping[str, Tensor],
    *,
    progress: float = 1.0,
    seed: int = 0,
) -> Context:
    """Make a context with what the rule declares."""
    x, y = batch
    states = states_of(net, x)
    with torch.no_grad():
        logits = net.readout(states[-1])
    offers = {
        "error": logits.softmax(1) - one_hot(y, logits.shape[1]),
        "readout": net.readout,
        "blocks": list(net.blocks),
    }
    shape = rule.noise_shape(states)
    noise = None
    if shape is not None:
        generator = torch.Generator().manual_seed(seed)
        noise = torch.randn(shape, generator=generator, dtype=x.dtype)
    declared = {need: offers[need] for need in rule.needs}
    return Context(states, y, feedback, progress, declared, noise=noise, residual=net.residual_add)


def scaled(rule: Rule, context: Context, factor: float) -> Context:
    """Return a context whose stream is `factor` times as large, with the same error and logits."""
    return Context(
        [factor * state for state in context.states],
        context.target,
        context.feedback,
        context.progress,
        {"error": context.error, "readout": lambda h: context.readout(h / factor)},
        noise=None if rule.noise_shape(context.states) is None else context.noise,
    )


@torch.no_grad()
def learned(rule: Rule, net: ResidualMLP, batches: list[Batch]) -> dict[str, Tensor]:
    """The feedback after these batches; batch i has noise of seed i."""
    feedback = drawn(rule, net)
    for seed, batch in enumerate(batches):
        feedback |= rule.learn(context_on(rule, net, batch, feedback, seed=seed))
    return feedback


def in_order(credit: Credit) -> list[Tensor]:
    """The embedding's, then each block's."""
    return [tensor.detach() for tensor in (credit.embed, *credit.blocks)]


def assert_same(ours: list[Tensor], theirs: list[Tensor], tolerance: float = 1e-10) -> None:
    """Equal up to `tolerance` of each tensor's largest number, which is not zero."""
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        assert other.abs().max() > 0
        assert relative_difference(one, other) < tolerance


def assert_same_feedback(ours: Mapping[str, Tensor], theirs: Mapping[str, Tensor]) -> None:
    assert ours.keys() == theirs.keys()
    for name, tensor in theirs.items():
        assert relative_difference(ours[name], tensor) < 1e-8, name


def double_batches(*sizes: int, seed: int = 1) -> list[Batch]:
    return make_batches(*sizes, seed=seed, dtype=torch.float64)


def cosines(ours: list[Tensor], theirs: list[Tensor]) -> list[float]:
    """Mean over samples of the cosine, layer by layer."""
    found = []
    for one, other in zip(ours, theirs, strict=True):
        along = (one * other).sum(1)
        found.append(float((along / one.norm(dim=1) / other.norm(dim=1)).mean()))
    return found
