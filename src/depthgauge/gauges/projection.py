"""Γ of many random projections at once, without ever forming a projected vector."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from depthgauge.gauges.norms import unit_vectors


def projected_alignment(
    source: Tensor, gradients: Sequence[Tensor], matrices: Sequence[Tensor]
) -> Tensor:
    """Mean over samples of cos(s·Bᵀ, g) for every draw of B and every layer, (draws, layers).

    ⟨s·Bᵀ, g⟩ = ⟨s, g·B⟩ and ‖s·Bᵀ‖² = s·(BᵀB)·sᵀ, so a draw costs two products as thin as `s`
    instead of vectors as wide as the stream.

    Args:
        source: s, (samples, c); where it is zero the cosine is undefined and does not count.
        gradients: g at each layer, (samples, d).
        matrices: for each layer the draws of B, (draws, d, c).
    """
    directions = unit_vectors(source)
    layers = [
        _layer(directions, unit_vectors(gradient), drawn)
        for gradient, drawn in zip(gradients, matrices, strict=True)
    ]
    return torch.stack(layers, -1)


def _layer(source: Tensor, gradient: Tensor, matrices: Tensor) -> Tensor:
    counted = source.any(-1) & gradient.any(-1)
    dtype = matrices.dtype
    s, g = source[counted].to(dtype), gradient[counted].to(dtype)
    if not len(s):
        return torch.full((len(matrices),), torch.nan, dtype=torch.float64)
    draws, width, c = matrices.shape
    wide = matrices.permute(1, 0, 2).reshape(width, draws * c)
    along = ((g @ wide).view(-1, draws, c) * s.unsqueeze(1)).sum(-1)
    gram = (matrices.transpose(1, 2) @ matrices).permute(1, 0, 2).reshape(c, draws * c)
    squares = ((s @ gram).view(-1, draws, c) * s.unsqueeze(1)).sum(-1)
    return (along.double() / squares.double().sqrt()).mean(0)
