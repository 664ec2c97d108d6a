"""Compute each sample's own loss, whose gradients do not depend on the batch size."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from depthgauge.errors import UserError

Loss = Callable[..., Tensor]
IGNORED = -100
"""The label of a token or sample that does not count."""

SAME_AS_LINEAR = 40
"""From this x on, softplus(x) = x in float64."""


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the cross-entropy of each sample, (samples,).

    With one label per token, labels are (samples, tokens) and logits (samples, tokens, classes).
    A sample's loss is then the sum over its tokens, so a token's gradient does not depend on the
    number of tokens. Labels of −100 do not count.

        loss = softplus(logsumexp_{c ≠ own}(z_c − z_own))

    z_c is the logit of class c, z_own the logit of the sample's own class. The gradient of this
    form is exact for confident samples too. The usual gradient p_own − 1, with the probability
    p_own of the own class, would round to zero.
    """
    _check(logits, labels)
    counted = labels != IGNORED
    own = labels.long().where(counted, 0).unsqueeze(-1)
    others = (logits - logits.gather(-1, own)).scatter(-1, own, -torch.inf)
    losses = nn.functional.softplus(others.logsumexp(-1), threshold=SAME_AS_LINEAR)
    losses = losses.where(counted, 0.0)
    return losses.flatten(1).sum(1) if labels.dim() > 1 else losses


def _check(logits: Tensor, labels: Tensor) -> None:
    if labels.is_floating_point() or labels.shape != logits.shape[:-1]:
        raise UserError(
            f"labels of shape {tuple(labels.shape)} and type {labels.dtype} do not fit logits of "
            f"shape {tuple(logits.shape)}; give one class number for each sample or token"
        )
    counted = labels[labels != IGNORED]
    classes = logits.shape[-1]
    if counted.numel() and not 0 <= int(counted.min()) <= int(counted.max()) < classes:
        raise UserError(
            f"the labels are from {int(counted.min())} to {int(counted.max())}, but the network "
            f"has {classes} classes; give labels from 0 to {classes - 1}"
        )


@dataclass(frozen=True)
class SampleLoss:
    """A loss that returns one number for each sample, (samples,).

    Attributes:
        of_samples: computes the losses of a batch's samples from logits and labels.
        averages: whether a sample's loss is the mean over its labels; otherwise it is the sum.
        ignored: the label that does not count in this loss.
    """

    of_samples: Loss
    averages: bool = False
    ignored: int = IGNORED

    def __call__(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return each sample's loss."""
        return self.of_samples(logits, labels)

    def mark_ignored(self, labels: Tensor) -> Tensor:
        """Return the labels with −100 in place of this loss's own ignored label."""
        if labels.is_floating_point() or self.ignored == IGNORED:
            return labels
        return labels.long().masked_fill(labels == self.ignored, IGNORED)


def make_sample_loss(loss: Loss) -> SampleLoss:
    """Turn a loss into a loss that returns one number for each sample.

    A loss with a `reduction`, as all of torch's losses have, is applied to every sample alone, as a
    batch of one. So "mean" and "sum" are over the sample's labels; with "none" the sample's numbers
    are summed. A loss without a `reduction` must itself return one or more numbers for each sample.
    If it returns several, they are summed.
    """
    reduction = _read_setting(loss, "reduction")
    if reduction is None:
        return SampleLoss(partial(_checked_losses, loss))
    ignored = _read_setting(loss, "ignore_index")
    alone = partial(_losses_one_by_one, _in_float64(loss), _is_torch_cross_entropy(loss))
    return SampleLoss(alone, reduction == "mean", IGNORED if ignored is None else ignored)


def class_axis(logits: Tensor, labels: Tensor) -> int:
    """Return the axis of the classes in the logits; without classes, the axis of the features.

    It is the last axis, or the second if only the second fits the labels: torch's own losses
    expect the classes on the second axis.
    """
    second = logits.dim() > 2 and labels.shape == logits.shape[:1] + logits.shape[2:]  # noqa: PLR2004
    return 1 if second and labels.shape != logits.shape[:-1] else -1


def _checked_losses(loss: Loss, logits: Tensor, labels: Tensor) -> Tensor:
    """Return the loss of each sample; refuse a loss that returns one number for the whole batch."""
    losses = loss(logits, labels)
    shape = tuple(losses.shape) if isinstance(losses, Tensor) else ()
    if not shape or shape[0] != len(labels):
        raise UserError(
            f"the loss returned the shape {shape} for {len(labels)} samples; it must return one "
            "number for each sample, not one for the batch"
        )
    return losses.flatten(1).sum(1) if losses.dim() > 1 else losses


def _losses_one_by_one(
    loss: Loss, is_cross_entropy: bool, logits: Tensor, labels: Tensor
) -> Tensor:
    """Apply a loss to every sample alone; a sample whose labels are all ignored has the loss 0.

    torch's cross-entropy expects classes on the second axis, so logits per token are transposed.
    """
    if labels.is_floating_point():
        labels = labels.to(logits.dtype)
    if is_cross_entropy and logits.dim() > 2 and class_axis(logits, labels) == -1:  # noqa: PLR2004
        logits = logits.movedim(-1, 1)
        labels = labels.movedim(-1, 1) if labels.dim() == logits.dim() else labels
    losses = torch.stack(
        [
            (loss(z, y) if counts else z[..., :0]).sum()
            for z, y, counts in zip(
                torch.split(logits, 1),
                torch.split(labels, 1),
                has_label(labels).tolist(),
                strict=True,
            )
        ]
    )
    if bool(losses.isnan().any()) and bool(logits.isfinite().all()):
        raise UserError(
            f"the loss of sample {int(losses.isnan().nonzero()[0])} is NaN; give the label −100 to "
            "samples that must not count"
        )
    return losses


def has_label(labels: Tensor) -> Tensor:
    """Return which samples have at least one label that is not −100."""
    if labels.is_floating_point():
        return torch.ones(len(labels), dtype=torch.bool, device=labels.device)
    return (labels != IGNORED).reshape(len(labels), -1).any(1)


def _read_setting(loss: Loss, name: str) -> Any:
    """Return a loss's setting: the attribute of a module, or the default of an argument."""
    if isinstance(loss, nn.Module):
        return getattr(loss, name, None)
    try:
        parameter = inspect.signature(loss).parameters.get(name)
    except (TypeError, ValueError):
        return None
    return None if parameter is None else parameter.default


def _in_float64(loss: Loss) -> Loss:
    """Return a copy of a loss with float64 weights and −100 as its ignored label."""
    marks = {} if _read_setting(loss, "ignore_index") is None else {"ignore_index": IGNORED}
    if isinstance(loss, nn.Module):
        module = copy.deepcopy(loss).double()
        vars(module).update(marks)
        return module
    if isinstance(loss, partial):
        given = {
            name: value.double() if isinstance(value, Tensor) else value
            for name, value in loss.keywords.items()
        }
        return partial(loss.func, *loss.args, **(given | marks))
    return partial(loss, **marks) if marks else loss


def _is_torch_cross_entropy(loss: Loss) -> bool:
    function = getattr(loss, "func", loss)
    return isinstance(loss, nn.CrossEntropyLoss | nn.NLLLoss) or function in (
        nn.functional.cross_entropy,
        nn.functional.nll_loss,
    )


def losses_and_error(loss: Loss, logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Return each sample's loss and e = ∂loss/∂logits, both in float64."""
    logits = logits.detach().double().requires_grad_()
    losses = loss(logits, labels)
    (error,) = torch.autograd.grad(losses.sum(), logits)
    return losses.detach(), error
