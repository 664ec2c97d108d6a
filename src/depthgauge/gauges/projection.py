"""Compute the alignment Γ of many random projections at once, without forming the projections."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from depthgauge.gauges.norms import unit_vectors


class ProjectedAlignment:
    """The mean over samples of cos(s·Bᵀ, g) for many draws of B.

    B is a random (d, c) matrix. ⟨s·Bᵀ, g⟩ = ⟨s, g·B⟩ and ‖s·Bᵀ‖² = s·(BᵀB)·sᵀ. So a draw costs two
    products with c columns, and the vectors s·Bᵀ, as wide as the stream, are never computed.

    Args:
        source: s, (samples, c).
        gradients: g at each layer, (samples, d), or (samples, positions, d) if s·Bᵀ is copied to
            all positions. Samples where s or g is zero have no cosine.
        dtype: the precision of the products. s and g are first scaled to unit vectors, so that
            float32 does not underflow.
    """

    def __init__(
        self, source: Tensor, gradients: Sequence[Tensor], dtype: torch.dtype = torch.float32
    ) -> None:
        directions = unit_vectors(source)
        self._pairs = []
        for gradient in gradients:
            unit = unit_vectors(gradient.flatten(1))
            counted = directions.any(-1) & unit.any(-1)
            pooled = _pool(unit.view(gradient.shape))
            self._pairs.append((directions[counted].to(dtype), pooled[counted].to(dtype)))

    def __call__(self, matrices: Sequence[Tensor]) -> Tensor:
        """Return the alignments, (draws, layers).

        `matrices` has the draws of B for each layer, (draws, d, c).
        """
        layers = [_layer(s, g, drawn) for (s, g), drawn in zip(self._pairs, matrices, strict=True)]
        return torch.stack(layers, -1)


def _pool(unit: Tensor) -> Tensor:
    """Return the unit vector of each sample for credit that all P positions share.

    Copied to all positions, s·Bᵀ is √P times as long, and its product with g is that with the sum
    of g over positions.
    """
    return unit if unit.dim() == 2 else unit.sum(1) / math.sqrt(unit.shape[1])  # noqa: PLR2004


def _layer(s: Tensor, g: Tensor, matrices: Tensor) -> Tensor:
    draws, width, c = matrices.shape
    if not len(s):
        return torch.full((draws,), torch.nan, dtype=torch.float64)
    matrices = matrices.to(s.dtype)
    wide = matrices.permute(1, 0, 2).reshape(width, draws * c)
    along = ((g @ wide).view(-1, draws, c) * s.unsqueeze(1)).sum(-1)
    gram = (matrices.transpose(1, 2) @ matrices).permute(1, 0, 2).reshape(c, draws * c)
    squares = ((s @ gram).view(-1, draws, c) * s.unsqueeze(1)).sum(-1)
    return (along.double() / squares.double().sqrt()).mean(0)
