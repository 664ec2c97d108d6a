"""Compute norms, unit vectors and cosines that neither underflow nor overflow."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from depthgauge.nets.layout import Layout

BATCHES_READ = 10
BATCH_READ = 128


def sample_norms(layers: Sequence[Tensor]) -> Tensor:
    """Return the norms over features of each layer's samples, as (…, layers, samples).

    Each layer is a tensor (…, samples, d). Norms are computed in float64, because the squares of
    1e-20 and 1e20 leave the range of float32. A float64 vector is divided by its largest entry
    first, so that no square leaves the range of float64.
    """
    return torch.stack([_norms(layer) for layer in layers], dim=-2)


def _norms(vectors: Tensor) -> Tensor:
    if vectors.dtype != torch.float64:
        plain: Tensor = torch.linalg.vector_norm(vectors, dim=-1, dtype=torch.float64)
        return plain
    largest = vectors.abs().amax(-1, keepdim=True)
    scaled: Tensor = torch.linalg.vector_norm(
        vectors / torch.where(largest > 0, largest, 1.0), dim=-1
    )
    return scaled * largest.squeeze(-1)


def stream_norms(layers: Sequence[Tensor], layout: Layout) -> Tensor:
    """Return the norms over features, averaged over positions, as (layers, samples)."""
    return torch.stack([sample_norms([layout.arrange(h)])[:, 0].mean(-1) for h in layers])


def summed_norms(layers: Sequence[Tensor], layout: Layout) -> Tensor:
    """Return the norms over features, summed over positions, as (layers, samples).

    If the readout spreads a gradient over positions, the sum does not depend on the number of
    positions.
    """
    return torch.stack([sample_norms([layout.arrange(h)])[:, 0].sum(-1) for h in layers])


def median_over_samples(norms: Tensor) -> Tensor:
    """Return the lower median over the last axis."""
    return norms.median(dim=-1).values


def unit_vectors(vectors: Tensor) -> Tensor:
    """Divide each vector along the last axis by its norm, in float64; a zero vector stays zero.

    Vectors are divided by their largest entry first, so that no square underflows. No norm is
    clamped.
    """
    vectors = vectors.double()
    largest = vectors.abs().amax(-1, keepdim=True)
    scaled = torch.where(largest > 0, vectors / largest, 0.0)
    norms = torch.linalg.vector_norm(scaled, dim=-1, keepdim=True)
    return torch.where(norms > 0, scaled / norms, 0.0)


def cosines(a: Tensor, b: Tensor) -> Tensor:
    """Return the cosines of vectors along the last axis; NaN if one of two vectors is zero."""
    unit_a, unit_b = unit_vectors(a), unit_vectors(b)
    cosine = (unit_a * unit_b).sum(-1)
    directed = unit_a.any(-1) & unit_b.any(-1)
    return torch.where(directed, cosine, torch.nan)
