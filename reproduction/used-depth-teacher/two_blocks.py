"""The true gradient to blocks 0 and 2, nothing to the others."""

import torch

from depthgauge.rules.contract import Context, Credit, Rule


class TwoBlocks(Rule):
    """a_l = g_{l+1} for l = 0 and 2, else 0; a_emb = g_0."""

    name = "two_blocks"
    summary = "the true gradient to blocks 0 and 2, nothing to the others"
    needs = frozenset({"gradient"})

    def credit(self, context: Context) -> Credit:
        embed, *gradients = context.gradient
        kept = [g if l in (0, 2) else torch.zeros_like(g) for l, g in enumerate(gradients)]
        return Credit(blocks=kept, embed=embed)
