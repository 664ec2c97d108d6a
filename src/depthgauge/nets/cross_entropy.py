"""Cross-entropy of many networks at once, and the error it sends back."""

from __future__ import annotations

import torch
from torch import Tensor


def cross_entropy_and_error(logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Each sample's loss, (runs, samples), and e = softmax(logits) − onehot(labels)."""
    log_p = torch.log_softmax(logits, -1)
    index = labels.unsqueeze(-1)
    loss = -log_p.gather(-1, index).squeeze(-1)
    error = log_p.exp().scatter_add_(-1, index, torch.full_like(loss, -1.0).unsqueeze(-1))
    return loss, error


def exact_error(logits: Tensor, labels: Tensor) -> Tensor:
    """The error in float64, its own class as minus the sum of the others.

    For a confident sample p − 1 cancels to zero; the sum of what is left does not.
    """
    index = labels.unsqueeze(-1)
    others = torch.softmax(logits.double(), -1).scatter(-1, index, 0.0)
    return others.scatter(-1, index, -others.sum(-1, keepdim=True))
