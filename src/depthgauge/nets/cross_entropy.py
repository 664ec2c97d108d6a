"""Compute the cross-entropy of many networks at once, and its gradient at the logits."""

from __future__ import annotations

import torch
from torch import Tensor


def cross_entropy_and_error(logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Return each sample's loss, (runs, samples), and e = softmax(logits) − onehot(labels)."""
    log_p = torch.log_softmax(logits, -1)
    index = labels.unsqueeze(-1)
    loss = -log_p.gather(-1, index).squeeze(-1)
    error = log_p.exp().scatter_add_(-1, index, torch.full_like(loss, -1.0).unsqueeze(-1))
    return loss, error


def exact_error(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the error e = softmax(logits) − onehot(labels) in float64, without cancellation.

    The entry of the sample's own class, p − 1, would round to zero for a confident sample. So it
    is computed as minus the sum of the other entries.
    """
    index = labels.unsqueeze(-1)
    others = torch.softmax(logits.double(), -1).scatter(-1, index, 0.0)
    return others.scatter(-1, index, -others.sum(-1, keepdim=True))
