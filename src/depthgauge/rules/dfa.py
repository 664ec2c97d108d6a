"""Direct feedback alignment (Nøkland, 2016): each block gets the error through a random matrix."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from depthgauge.nets.net_shape import NetShape
from depthgauge.rules.contract import Context, Credit, NormalisedOptions, Rule


class DFA(Rule):
    """a_l = e·B_lᵀ with B_l = randn(d, C)/√C, fixed, one for each block; the embedding uses B_0."""

    name = "dfa"
    summary = "direct feedback alignment: the error through a fixed random matrix to each block"
    needs = frozenset({"error"})
    Options = NormalisedOptions

    def feedback(self, net: NetShape, generator: torch.Generator) -> dict[str, Tensor]:
        """Draw B_0 … B_{L−1}; without blocks, draw one matrix for the embedding."""
        matrices = torch.empty(max(net.num_blocks, 1), net.width, net.error_width)
        for matrix in matrices:
            matrix.normal_(generator=generator)
        return {"B": matrices / math.sqrt(net.error_width)}

    def source(self, context: Context) -> Tensor:
        """Return the tensor that the matrices project: the error."""
        return context.error

    def credit(self, context: Context) -> Credit:
        """Project the source through each block's matrix."""
        source = self.source(context)
        projected = [source @ matrix.T for matrix in context.feedback["B"]]
        blocks = len(context.states) - 1
        return Credit(blocks=projected[:blocks], embed=projected[0])

    def projected(self, context: Context) -> Tensor | None:
        """Return the source, since the credit is always its projection."""
        return self.source(context)
