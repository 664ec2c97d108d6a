"""A rule's credit for one network that is being read, not trained."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

import torch
from torch import Tensor

from depthgauge.nets.batch_view import BatchView
from depthgauge.nets.contract import ResidualNet
from depthgauge.rules.contract import Context, Credit, Need, Rule
from depthgauge.rules.normalisation import compute_credit

AFTER_TRAINING = 1.0
NOISE_SEED = 0


def context_of(
    rule: Rule, batch: BatchView, feedback: Mapping[str, Tensor], noise: Tensor | None = None
) -> Context:
    """What the rule may see of a batch, in the precision in which the network is read."""
    net, dtype = cast(ResidualNet, batch.net.model), batch.states[0].dtype
    offers: dict[Need, Callable[[], object]] = {
        "error": lambda: batch.error.to(dtype),
        "readout": lambda: net.readout,
        "blocks": lambda: list(net.blocks),
        "gradient": lambda: [gradient.to(dtype) for gradient in batch.gradients],
    }
    declared = {need: offers[need]() for need in rule.needs}
    own = {
        name: tensor.to(dtype) if tensor.is_floating_point() else tensor
        for name, tensor in feedback.items()
    }
    return Context(
        batch.states,
        batch.labels,
        own,
        AFTER_TRAINING,
        declared,
        noise=reading_noise(rule, batch) if noise is None else noise,
        residual=net.residual_add,
    )


def reading_noise(rule: Rule, batch: BatchView) -> Tensor | None:
    """The same numbers for every reading, so that a reading can be repeated."""
    shape, like = rule.noise_shape(batch.states), batch.states[0]
    if shape is None:
        return None
    generator = torch.Generator().manual_seed(NOISE_SEED)
    return torch.randn(shape, generator=generator).to(like.device, like.dtype)


Function = Callable[[BatchView], list[Tensor]]
"""The credit as gauges take it: the embedding's first."""


def rule_credit(rule: Rule, feedback: Mapping[str, Tensor]) -> Function:
    """The credit that training with `rule` applies."""
    return _as_function(rule, feedback, compute_credit)


def formed_credit(rule: Rule, feedback: Mapping[str, Tensor]) -> Function:
    """The credit as `rule` forms it, before it is normalised."""
    return _as_function(rule, feedback, lambda rule, context: rule.credit(context))


def _as_function(
    rule: Rule, feedback: Mapping[str, Tensor], form: Callable[[Rule, Context], Credit]
) -> Function:
    @torch.no_grad()
    def credit(batch: BatchView) -> list[Tensor]:
        given = form(rule, context_of(rule, batch, feedback))
        return [given.embed, *given.blocks]

    return credit
