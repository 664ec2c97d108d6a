"""Read labels: which count, how many a sample has, and on which axis the classes are."""

from __future__ import annotations

import torch
from torch import Tensor

IGNORED = -100
"""The label of a token or sample that does not count."""


def has_label(labels: Tensor) -> Tensor:
    """Return which samples have at least one label that is not −100."""
    if labels.is_floating_point():
        return torch.ones(len(labels), dtype=torch.bool, device=labels.device)
    return (labels != IGNORED).reshape(len(labels), -1).any(1)


def count_labels(target: Tensor) -> Tensor:
    """Return how many labels of each sample count, (samples,).

    Real targets have the features on their last axis, so they count once at each position.
    """
    if target.is_floating_point():
        positions = target[0, ..., 0].numel() if len(target) else 1
        return torch.full((len(target),), positions, device=target.device)
    return (target != IGNORED).reshape(len(target), -1).sum(1)


def class_axis(logits: Tensor, labels: Tensor) -> int:
    """Return the axis of the classes: the last, or the second if only that fits the labels.

    torch's own losses expect the classes on the second axis. If the output has no classes, return
    the axis of its features.
    """
    second = logits.dim() > 2 and labels.shape == logits.shape[:1] + logits.shape[2:]  # noqa: PLR2004
    return 1 if second and labels.shape != logits.shape[:-1] else -1
