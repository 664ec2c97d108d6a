"""How close a network is to the identity: one sample at a time, in float64."""

from __future__ import annotations

import copy
import math

import torch
from oracles.readings import lower_median
from torch import Tensor, nn


def length(vector: Tensor) -> float:
    return math.sqrt(math.fsum(float(value) ** 2 for value in vector))


def identity_of_samples(net: nn.Module, x: Tensor) -> dict[str, object]:
    """Medians over the samples of ‖f_l‖/‖h_l‖, ‖h_L − h_0‖/‖h_0‖ and cos(h_L, h_0)."""
    exact = copy.deepcopy(net).double()
    ratios, deviations, cosines = [], [], []
    with torch.no_grad():
        for sample in x.double():
            first = stream = exact.embed(sample)
            own = []
            for block in exact.blocks:
                branch = block(stream)
                own.append(length(branch) / length(stream))
                stream = stream + branch
            ratios.append(own)
            deviations.append(length(stream - first) / length(first))
            cosines.append(float(stream @ first) / length(stream) / length(first))
    return {
        "per_block_ratio": [lower_median(list(column)) for column in zip(*ratios, strict=True)],
        "rel_dev": lower_median(deviations),
        "cos": lower_median(cosines),
    }
