"""Turn a rule into a function that returns its credit, to measure a trained network."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from depthgauge.nets.batch_view import BatchView
from depthgauge.nets.preserve_state import preserve_state
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.rules.contract import Context, Credit, Rule
from depthgauge.rules.normalisation import compute_credit
from depthgauge.rules.offered_context import Offers, offer_context

AFTER_TRAINING = 1.0
NOISE_SEED = 0


def make_context(
    rule: Rule, batch: BatchView, feedback: Mapping[str, Tensor], noise: Tensor | None = None
) -> Context:
    """Return what the rule may see of a batch, in the precision of the batch's states.

    Readout and blocks of a general network run the network again, in its present mode: ask the
    rule for its credit inside `preserve_state`.
    """
    dtype, model = batch.states[0].dtype, batch.net.model
    offers: Offers = {
        "error": lambda: batch.error.to(dtype),
        "gradient": lambda: [gradient.to(dtype) for gradient in batch.gradients],
        **_parts(batch),
    }
    own = {
        name: tensor.to(dtype) if tensor.is_floating_point() else tensor
        for name, tensor in feedback.items()
    }
    return offer_context(
        rule,
        batch.states,
        target=batch.labels,
        feedback=own,
        progress=AFTER_TRAINING,
        offers=offers,
        noise=draw_noise(rule, batch) if noise is None else noise,
        residual=isinstance(model, ResidualMLP) and model.residual_add,
        layout=replace(batch.net.layout, token=None),
        loss=batch.net.loss,
        last_gradient=lambda: batch.gradient(-1).to(dtype),
    )


def _parts(batch: BatchView) -> Offers:
    """Return the readout and the blocks of the batch's network as functions."""
    model = batch.net.model
    if isinstance(model, ResidualMLP):
        return {"readout": lambda: model.readout, "blocks": lambda: list(model.blocks)}
    return {"readout": lambda: batch.replay.readout, "blocks": lambda: list(batch.replay.blocks())}


def draw_noise(rule: Rule, batch: BatchView) -> Tensor | None:
    """Draw the rule's noise for a measurement; the seed is fixed, so every call draws the same."""
    shape, like = rule.noise_shape(batch.states), batch.states[0]
    if shape is None:
        return None
    generator = torch.Generator().manual_seed(NOISE_SEED)
    return torch.randn(shape, generator=generator).to(like.device, like.dtype)


CreditFunction = Callable[[BatchView], Sequence[Tensor]]
"""Takes a batch; returns L + 1 tensors shaped like the stream. Tensor l estimates g_l.

Tensor 0 trains the embedding. Tensor l + 1 trains block l: it estimates the gradient at the
block's output.
"""


def rule_credit(rule: Rule, feedback: Mapping[str, Tensor]) -> CreditFunction:
    """Return a function that computes the normalised credit, as training with `rule` applies it."""
    return _credit_function(rule, feedback, compute_credit)


def formed_credit(rule: Rule, feedback: Mapping[str, Tensor]) -> CreditFunction:
    """Return a function that computes the credit of `rule` before normalisation."""
    return _credit_function(rule, feedback, lambda rule, context: rule.credit(context))


def _credit_function(
    rule: Rule, feedback: Mapping[str, Tensor], compute: Callable[[Rule, Context], Credit]
) -> CreditFunction:
    def credit(batch: BatchView) -> list[Tensor]:
        with preserve_state(batch.net.model), torch.no_grad():
            given = compute(rule, make_context(rule, batch, feedback))
        return [given.embed, *given.blocks]

    return credit
