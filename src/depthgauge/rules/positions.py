"""Bring vectors, errors and credit to the positions of a stream of any shape.

A stream without positions is (samples, features); every function here leaves it as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn import functional

from depthgauge.nets.layout import Layout

VECTORS = 2
"""The number of axes of a stream without positions."""

POOLINGS: dict[int, Callable[..., Tensor]] = {
    1: functional.adaptive_avg_pool1d,
    2: functional.adaptive_avg_pool2d,
    3: functional.adaptive_avg_pool3d,
}
"""For each number of axes of positions, the function that averages over neighbouring positions."""


def by_position(stream: Tensor, layout: Layout) -> Tensor:
    """Return a stream as (samples, features), or as (samples, positions, features)."""
    ordered = layout.ordered(stream)
    return ordered if ordered.dim() == VECTORS else ordered.flatten(1, -2)


def like_stream(values: Tensor, like: Tensor, layout: Layout) -> Tensor:
    """Return values in the shape of a stream; one vector for a sample is copied to all positions.

    Args:
        values: (samples, features), or (samples, positions, features).
        like: the stream.
        layout: its axes.
    """
    shape = layout.ordered(like).shape
    if values.dim() == VECTORS and len(shape) > VECTORS:
        places = [1] * (len(shape) - VECTORS)
        values = values.reshape(len(values), *places, shape[-1]).expand(shape)
    return layout.disordered(values.reshape(shape))


def error_at(error: Tensor, like: Tensor, layout: Layout) -> Tensor:
    """Return the error for the positions of a stream: (samples, c), or (samples, positions, c).

    Where the output has as many positions as the stream, each position has the error of its own
    token. Otherwise each sample has one error, the sum over its tokens.
    """
    if error.dim() == VECTORS:
        return error
    tokens = error.flatten(1, -2)
    positions = layout.ordered(like).shape[1:-1]
    return tokens if positions and tokens.shape[1] == math.prod(positions) else tokens.sum(1)


def resample(values: Tensor, like: Tensor, layout: Layout) -> Tensor:
    """Return values of another stream at the positions of `like`, as `like` with other features.

    Each position gets the mean over the positions that it overlaps: where a block has halved the
    resolution, the credit of a position is copied to the positions that it was made from.
    """
    ordered = layout.ordered(values)
    old, new = ordered.shape[1:-1], layout.ordered(like).shape[1:-1]
    if old != new:
        ordered = _pooled(ordered, old, new)
    return layout.disordered(ordered)


def _pooled(ordered: Tensor, old: Sequence[int], new: Sequence[int]) -> Tensor:
    samples, features = ordered.shape[0], ordered.shape[-1]
    own_axes = len(old) == len(new) and len(new) in POOLINGS
    axes = (tuple(old), tuple(new)) if own_axes else ((math.prod(old),), (math.prod(new),))
    channels_first = ordered.reshape(samples, *axes[0], features).movedim(-1, 1)
    pooled = POOLINGS[len(axes[0])](channels_first, list(axes[1])).movedim(1, -1)
    return pooled.reshape(samples, *new, features)


def per_position_once(values: Tensor) -> Tensor:
    """Return values without repetition, if a vector is copied to all positions of a stream.

    An axis along which `like_stream` has copied the vector gets the size 1. A calculation for each
    vector, or a mean over positions, then needs a fraction of the time, and `expand_as` copies the
    result to all positions.
    """
    if values.dim() == VECTORS:
        return values
    for axis, stride in enumerate(values.stride()):
        if stride == 0:
            values = values.narrow(axis, 0, 1)
    return values


def sample_axes(stream: Tensor, layout: Layout) -> tuple[int, ...]:
    """Return all axes of a stream except the axis of the samples."""
    own = layout.sample_axis % stream.dim()
    return tuple(axis for axis in range(stream.dim()) if axis != own)


def sample_norms(stream: Tensor, layout: Layout) -> Tensor:
    """Return the norm of each sample over all its entries; the axes are kept, with size 1."""
    norms: Tensor = torch.linalg.vector_norm(stream, dim=sample_axes(stream, layout), keepdim=True)
    return norms
