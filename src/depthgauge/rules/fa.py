"""Feedback alignment (Lillicrap et al., 2016): the backward pass uses fixed random matrices."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise

import torch
from torch import Tensor

from depthgauge.nets.net_shape import NetShape
from depthgauge.rules.contract import Context, Credit, NormalisedOptions, Rule
from depthgauge.rules.positions import resample


class FA(Rule):
    """a_{L−1} = ∂(batch-mean loss)/∂h_L, a_{l−1} = a_l·B_lᵀ, a_emb = a_0·B_0ᵀ.

    B_l = randn(d, d)/√d, fixed; it acts on features. Where a block changes the number of features
    from d to d', B_l is randn(d, d')/√d'. Where a block changes the positions, each position below
    gets the mean over the positions above that it overlaps.

    Credit is normalised after the whole chain is computed. The loss is the mean over the labels of
    the batch, as in the published study. The gradient of this loss falls below the ε of the
    normalisation as the stream grows, and FA's accuracy depends on that.
    """

    name = "fa"
    summary = "feedback alignment: the last gradient, handed down through fixed random matrices"
    needs = frozenset({"readout"})
    Options = NormalisedOptions

    def why_not(self, net: NetShape) -> str | None:
        """Refuse no network: the last gradient is enough, and every network has it."""
        return None

    def feedback(self, net: NetShape, generator: torch.Generator) -> dict[str, Tensor]:
        """Draw B_0 … B_{L−1}."""
        widths = [net.features(state) for state in range(net.num_blocks + 1)]
        if len(set(widths)) > 1:
            return {
                f"B.{block}": torch.empty(below, above).normal_(generator=generator)
                / math.sqrt(above)
                for block, (below, above) in enumerate(pairwise(widths))
            }
        matrices = torch.empty(net.num_blocks, net.width, net.width)
        for matrix in matrices:
            matrix.normal_(generator=generator)
        return {"B": matrices / math.sqrt(net.width)}

    def credit(self, context: Context) -> Credit:
        """Compute the chain of credit from the last block down to the embedding."""
        layout, states = context.layout, context.states
        labels = context.loss.labels(context.target).sum().clamp(min=1)
        chain = [context.last_gradient / labels]
        matrices = _matrices(context.feedback, len(states) - 1)
        for matrix, below in zip(reversed(matrices), reversed(states[:-1]), strict=True):
            above = layout.ordered(resample(chain[-1], below, layout))
            chain.append(layout.disordered(above @ matrix.T))
        embed, *blocks = reversed(chain)
        return Credit(blocks=blocks, embed=embed)


def _matrices(feedback: Mapping[str, Tensor], blocks: int) -> list[Tensor]:
    if "B" in feedback:
        return list(feedback["B"].unbind())
    return [feedback[f"B.{block}"] for block in range(blocks)]
