"""Noise as credit: a control for how much accuracy blocks add without any information."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from depthgauge.rules.bp import BPOptions
from depthgauge.rules.contract import Context, Credit, Rule
from depthgauge.rules.positions import sample_norms


class Noise(Rule):
    """Noise: the credit of block l has a random direction, and the norm of the true gradient.

    The norms are over all axes of a sample.

    Other rules are compared with this rule. Random features become better as they grow, so
    accuracy rises a little with the number of trained blocks even if their credit is meaningless.
    """

    name = "noise"
    summary = "a control: noise of the true gradient's norm to each block"
    needs = frozenset({"gradient"})
    Options = BPOptions

    def noise_shape(self, states: Sequence[Tensor]) -> tuple[int, ...]:
        """Return the shape of the noise: one direction for each block and sample.

        Where the shapes of the states differ, it is one row for all of them.
        """
        if len({state.shape for state in states}) == 1:
            return (len(states) - 1, *states[0].shape)
        return (sum(state.numel() for state in states[1:]),)

    def credit(self, context: Context) -> Credit:
        """Return random directions with the norms of the true gradients."""
        embed, *gradients = context.gradient
        layout, noise = context.layout, list(context.noise)
        if context.noise.dim() == 1:
            sizes = [gradient.numel() for gradient in gradients]
            rows = zip(torch.split(context.noise, sizes), gradients, strict=True)
            noise = [row.view(gradient.shape) for row, gradient in rows]
        blocks = [
            sample_norms(gradient, layout) * own / sample_norms(own, layout)
            for gradient, own in zip(gradients, noise, strict=True)
        ]
        return Credit(blocks=blocks, embed=embed)
