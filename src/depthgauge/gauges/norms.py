"""Norms of the stream and of its gradient: how large, at every depth."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from depthgauge.nets.layout import Layout

BATCHES_READ = 10
BATCH_READ = 128


def sample_norms(layers: Sequence[Tensor]) -> Tensor:
    """‖·‖ over features of each (…, samples, d) tensor, stacked as (…, layers, samples).

    Taken in float64, because squares of 1e-20 and 1e20 both leave the range of float32; what is
    float64 already is divided by its largest entry first.
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
    """‖·‖ over features, averaged over positions, as (layers, samples)."""
    return torch.stack([sample_norms([layout.arrange(h)])[:, 0].mean(-1) for h in layers])


def summed_norms(layers: Sequence[Tensor], layout: Layout) -> Tensor:
    """‖·‖ over features, summed over positions, as (layers, samples).

    A gradient that a readout spreads over positions keeps its sum however many there are.
    """
    return torch.stack([sample_norms([layout.arrange(h)])[:, 0].sum(-1) for h in layers])


def median_over_samples(norms: Tensor) -> Tensor:
    """The lower median over the last axis."""
    return norms.median(dim=-1).values


def unit_vectors(vectors: Tensor) -> Tensor:
    """Each vector along the last axis divided by its norm, in float64; zero stays zero.

    Divided by the largest entry first, so that no square underflows: no norm is ever clamped.
    """
    vectors = vectors.double()
    largest = vectors.abs().amax(-1, keepdim=True)
    scaled = torch.where(largest > 0, vectors / largest, 0.0)
    norms = torch.linalg.vector_norm(scaled, dim=-1, keepdim=True)
    return torch.where(norms > 0, scaled / norms, 0.0)


def cosines(a: Tensor, b: Tensor) -> Tensor:
    """Cosine along the last axis; NaN where a vector is exactly zero: there is no direction."""
    unit_a, unit_b = unit_vectors(a), unit_vectors(b)
    cosine = (unit_a * unit_b).sum(-1)
    directed = unit_a.any(-1) & unit_b.any(-1)
    return torch.where(directed, cosine, torch.nan)
