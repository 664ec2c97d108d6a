"""Measure how close the blocks of an untrained network are to the identity."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from depthgauge.gauges.norms import median_over_samples, sample_norms
from depthgauge.nets.contract import ResidualNet


@dataclass(frozen=True)
class IdentityReading:
    """How close a network is to the identity; all numbers are medians over samples.

    h_l is the stream before block l, f_l the block's branch, and h_L the stream's last state.

    Attributes:
        per_block_ratio: ‖f_l‖/‖h_l‖ of each block l.
        rel_dev: ‖h_L − h_0‖/‖h_0‖.
        cos: the cosine of h_L and h_0.
    """

    per_block_ratio: tuple[float, ...]
    rel_dev: float
    cos: float


@torch.no_grad()
def read_identity(net: ResidualNet, x: Tensor) -> IdentityReading:
    """Return how close `net` is to the identity on the samples `x`."""
    trace = net.trace(x)
    first, last = trace.states[0], trace.states[-1]
    branches, streams = sample_norms(trace.branches), sample_norms(trace.states)
    deviation = sample_norms([last - first])[0] / streams[0]
    cosine = (first.double() * last.double()).sum(-1) / (streams[0] * streams[-1])
    return IdentityReading(
        tuple(median_over_samples(branches / streams[:-1]).tolist()),
        float(median_over_samples(deviation)),
        float(median_over_samples(cosine)),
    )
