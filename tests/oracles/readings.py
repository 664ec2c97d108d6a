"""What is read off a network after an epoch: one sample at a time, with plain autograd.

Written from section 2 of the protocol; it shares no code with the package.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy


@dataclass(frozen=True)
class SampleReading:
    """One sample: is it named rightly, the norms of h_l and g_l, l = 0 … L, and ‖g_L‖/‖e‖."""

    right: bool
    h_norms: list[float]
    g_norms: list[float]
    g_over_e: float


def read_sample(net: nn.Module, x: Tensor, label: int) -> SampleReading:
    """The gradient of this sample's own loss with respect to every state of the stream."""
    states = [net.embed(x.unsqueeze(0))]
    for block in net.blocks:
        branch = block(states[-1])
        states.append(states[-1] + branch if net.residual_add else branch)
    logits = net.out_head(net.out_ln(states[-1]))
    loss = cross_entropy(logits, torch.tensor([label]))
    gradients = torch.autograd.grad(loss, states, retain_graph=True)
    (error,) = torch.autograd.grad(loss, logits)
    return SampleReading(
        int(logits.argmax()) == label,
        [state.square().sum().sqrt().item() for state in states],
        [gradient.square().sum().sqrt().item() for gradient in gradients],
        (gradients[-1].square().sum() / error.square().sum()).sqrt().item(),
    )


def lower_median(values: list[float]) -> float:
    """The lower one of two middle values."""
    return sorted(values)[(len(values) - 1) // 2]


def read(net: nn.Module, x: Tensor, y: Tensor, read_for_norms: int) -> dict[str, object]:
    """Accuracy on all samples; medians of the norms on the first `read_for_norms`."""
    samples = [read_sample(net, one, int(label)) for one, label in zip(x, y, strict=True)]
    first = samples[:read_for_norms]
    return {
        "accuracy": sum(sample.right for sample in samples) / len(samples),
        "h_norm": [lower_median(list(c)) for c in zip(*(s.h_norms for s in first), strict=True)],
        "g_norm": [lower_median(list(c)) for c in zip(*(s.g_norms for s in first), strict=True)],
        "g_over_e": lower_median([sample.g_over_e for sample in first]),
    }
