"""Feedback alignment (Lillicrap et al., 2016): the backward pass uses fixed random matrices."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from depthgauge.nets.net_shape import NetShape
from depthgauge.rules.contract import Context, Credit, NormalisedOptions, Rule


class FA(Rule):
    """Feedback alignment: credit goes down from block to block through fixed random matrices.

    The last block gets a_{L−1} = ∂CE/∂h_L. Each block below gets a_{l−1} = a_l·B_lᵀ, and the
    embedding gets a_0·B_0ᵀ. Here a_l is the credit of block l, counted from 0 to L−1, and
    B_l = randn(d, d)/√d for width d. Credit is normalised after the whole chain is computed.

    CE is the batch mean of the cross-entropy, as in the published study. As the stream grows, the
    gradient of CE falls below the ε of the normalisation. FA's accuracy depends on this effect.
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
