"""Noise as credit: a control for how much accuracy blocks add without any information."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from depthgauge.rules.bp import BPOptions
from depthgauge.rules.contract import Context, Credit, Rule


class Noise(Rule):
    """Noise: the credit of block l has a random direction, and the norm of the true gradient.

    In symbols, a_l = ‖g_{l+1}‖·n_l/‖n_l‖, with the true gradient g_{l+1} at the block's output. The
    normal noise n_l is drawn anew for each sample. The embedding gets its true gradient g_0.

    Other rules are compared with this rule. Random features become better as they grow, so accuracy
    rises a little with the number of trained blocks, even if the credit is meaningless.
    """

    name = "noise"
    summary = "a control: noise of the true gradient's norm to each block"
    needs = frozenset({"gradient"})
    Options = BPOptions

    def noise_shape(self, states: Sequence[Tensor]) -> tuple[int, ...]:
        """Return the shape of the noise: one direction for each block and sample."""
        return (len(states) - 1, *states[0].shape)

    def credit(self, context: Context) -> Credit:
        """Return random directions with the norms of the true gradients."""
        embed, *gradients = context.gradient
        norms = [gradient.norm(dim=-1, keepdim=True) for gradient in gradients]
        blocks = [
            norm * noise / noise.norm(dim=-1, keepdim=True)
            for norm, noise in zip(norms, context.noise, strict=True)
        ]
        return Credit(blocks=blocks, embed=embed)
