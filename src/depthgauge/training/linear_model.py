"""A linear model of standardised inputs."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class LinearModel:
    """The outputs are inputs @ weights + bias, on standardised inputs.

    Attributes:
        mean, std: mean and standard deviation of each feature over the training samples; the
            standard deviation of a constant feature is set to 1.
        weights, bias: (features, outputs) and (outputs,), float64.
        penalty: λ of the penalty λ/2 · ‖weights‖², chosen on held-out training samples.
        samples: how many training samples were fitted.
    """

    mean: Tensor
    std: Tensor
    weights: Tensor
    bias: Tensor
    penalty: float
    samples: int


def mean_and_std(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return mean and standard deviation of each feature; 1 for features that are constant."""
    mean, std = x.mean(0), x.std(0, correction=0)
    return mean, torch.where(std > 0, std, torch.ones_like(std))
