"""Noise as credit: what a network gains when its blocks are trained and told nothing."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from depthgauge.rules.bp import BPOptions
from depthgauge.rules.contract import Context, Credit, Rule


class Noise(Rule):
    """a_l = ‖g_{l+1}‖·n_l/‖n_l‖ with fresh normal n_l, sample by sample; a_emb = g_0.

    A floor for other rules: random features that grow are better features, so that a ladder climbs
    a little under credit that means nothing.
    """

    name = "noise"
    summary = "a control: noise of the true gradient's norm to each block"
    needs = frozenset({"gradient"})
    Options = BPOptions

    def noise_shape(self, states: Sequence[Tensor]) -> tuple[int, ...]:
        """One direction for each block and sample."""
        return (len(states) - 1, *states[0].shape)

    def credit(self, context: Context) -> Credit:
        """Random directions, as long as the gradients."""
        embed, *gradients = context.gradient
        norms = [gradient.norm(dim=-1, keepdim=True) for gradient in gradients]
        blocks = [
            norm * noise / noise.norm(dim=-1, keepdim=True)
            for norm, noise in zip(norms, context.noise, strict=True)
        ]
        return Credit(blocks=blocks, embed=embed)
