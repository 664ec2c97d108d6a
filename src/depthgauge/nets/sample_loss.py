"""Each sample's own loss: what gradients are taken of, so that no batch size comes in."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable

import torch
from torch import Tensor, nn

from depthgauge.errors import UserError

Loss = Callable[..., Tensor]
IGNORED = -100
"""The label of a token that does not count."""

SAME_AS_LINEAR = 40
"""softplus(x) = x in float64 from here on."""


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Cross-entropy of each sample, (samples,).

    For labels per token, (samples, tokens) beside logits (samples, tokens, classes), it is the sum
    over the sample's tokens: like a sample's loss, a token's does not shrink with its company.
    Labels of −100 do not count. With the lead z_c − z_own of every other class,

        loss = softplus(logsumexp of the leads),

    whose gradient is exact also where p − 1 would cancel to zero: confident samples.
    """
    _check(logits, labels)
    counted = labels != IGNORED
    own = labels.long().where(counted, 0).unsqueeze(-1)
    lead = (logits - logits.gather(-1, own)).scatter(-1, own, -torch.inf)
    flat = nn.functional.softplus(lead.logsumexp(-1), threshold=SAME_AS_LINEAR)
    flat = flat.where(counted, 0.0)
    return flat.flatten(1).sum(1) if labels.dim() > 1 else flat


def _check(logits: Tensor, labels: Tensor) -> None:
    if labels.is_floating_point() or labels.shape != logits.shape[:-1]:
        raise UserError(
            f"labels of shape {tuple(labels.shape)} and type {labels.dtype} do not fit logits of "
            f"shape {tuple(logits.shape)}; one class number is needed for each sample or token"
        )
    counted = labels[labels != IGNORED]
    classes = logits.shape[-1]
    if counted.numel() and not 0 <= int(counted.min()) <= int(counted.max()) < classes:
        raise UserError(
            f"labels go from {int(counted.min())} to {int(counted.max())}, but the network has "
            f"{classes} classes, so they must be from 0 to {classes - 1}"
        )


def per_sample(loss: Loss) -> Loss:
    """`loss` as a function that gives one number for each sample.

    torch's own losses average over the batch unless told otherwise; they are told otherwise. They
    also want the classes on the second axis, where logits per token have them on the last.
    """
    classes_second = _is_torch_cross_entropy(loss)
    options: dict[str, str] = {}
    if isinstance(loss, nn.Module):
        loss = copy.deepcopy(loss).double()
        if hasattr(loss, "reduction"):
            setattr(loss, "reduction", "none")  # noqa: B010 – torch types no such attribute
    elif _has_reduction(loss):
        options = {"reduction": "none"}

    def each(logits: Tensor, labels: Tensor) -> Tensor:
        if classes_second and logits.dim() > 2:  # noqa: PLR2004
            logits = logits.movedim(-1, 1)
        losses = loss(logits, labels, **options)
        shape = tuple(losses.shape) if isinstance(losses, Tensor) else ()
        if not shape or shape[0] != len(labels):
            raise UserError(
                "the loss must return one number for each sample, not one for the batch "
                f"(it returned the shape {shape} for {len(labels)} samples)"
            )
        return losses.flatten(1).sum(1) if losses.dim() > 1 else losses

    return each


def _is_torch_cross_entropy(loss: Loss) -> bool:
    function = getattr(loss, "func", loss)
    return isinstance(loss, nn.CrossEntropyLoss | nn.NLLLoss) or function in (
        nn.functional.cross_entropy,
        nn.functional.nll_loss,
    )


def _has_reduction(loss: Loss) -> bool:
    try:
        return "reduction" in inspect.signature(loss).parameters
    except (TypeError, ValueError):
        return False


def losses_and_error(loss: Loss, logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Each sample's loss and e = ∂loss/∂logits, in float64 whatever the logits are."""
    logits = logits.detach().double().requires_grad_()
    losses = loss(logits, labels)
    (error,) = torch.autograd.grad(losses.sum(), logits)
    return losses.detach(), error
