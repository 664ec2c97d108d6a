"""Feedback alignment (Lillicrap et al., 2016): the backward pass uses fixed random matrices."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from depthgauge.nets.net_shape import NetShape
from depthgauge.rules.contract import Context, Credit, NormalisedOptions, Rule


class FA(Rule):
    """a_{L−1} = ∂(batch-mean CE)/∂h_L, a_{l−1} = a_l·B_lᵀ, a_emb = a_0·B_0ᵀ.

    B_l = randn(d, d)/√d, fixed. Credit is normalised after the whole chain is computed. The loss is
    the batch mean, as in the published study. The gradient of this loss falls below the ε of the
    normalisation as the stream grows, and FA's accuracy depends on that.
    """

    name = "fa"
    summary = "feedback alignment: the last gradient, handed down through fixed random matrices"
    needs = frozenset({"readout"})
    Options = NormalisedOptions

    def feedback(self, net: NetShape, generator: torch.Generator) -> dict[str, Tensor]:
        """Draw B_0 … B_{L−1}."""
        width = net.width
        matrices = torch.empty(net.num_blocks, width, width)
        for matrix in matrices:
            matrix.normal_(generator=generator)
        return {"B": matrices / math.sqrt(width)}

    def credit(self, context: Context) -> Credit:
        """Compute the chain of credit from the last block down to the embedding."""

        def batch_mean_loss(stream: Tensor) -> Tensor:
            return cross_entropy(context.readout(stream), context.target)

        chain = [torch.func.grad(batch_mean_loss)(context.states[-1])]
        for matrix in context.feedback["B"].unbind()[::-1]:
            chain.append(chain[-1] @ matrix.T)
        embed, *blocks = reversed(chain)
        return Credit(blocks=blocks, embed=embed)
