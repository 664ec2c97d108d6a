"""Norms of the stream and of its gradient: how large, at every depth."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

BATCHES_READ = 10
BATCH_READ = 128


def sample_norms(layers: Sequence[Tensor]) -> Tensor:
    """‖·‖ over features of each (…, samples, d) tensor, stacked as (…, layers, samples).

    Taken in float64: squares of 1e-20 and 1e20 both leave the range of float32.
    """
    norms = [torch.linalg.vector_norm(layer, dim=-1, dtype=torch.float64) for layer in layers]
    return torch.stack(norms, dim=-2)


def median_over_samples(norms: Tensor) -> Tensor:
    """The lower median over the last axis."""
    return norms.median(dim=-1).values


def unit_vectors(vectors: Tensor) -> Tensor:
    """Each vector along the last axis divided by its norm; the zero vector stays zero."""
    norms = torch.linalg.vector_norm(vectors, dim=-1, keepdim=True, dtype=torch.float64)
    return torch.where(norms > 0, vectors.double() / norms, 0.0)
