"""Each sample's own loss: what gradients are taken of, so that no batch size comes in."""

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


@dataclass(frozen=True)
class SampleLoss:
    """A loss that gives one number for each sample, (samples,).

    Attributes:
        of_samples: the losses of the samples of a batch.
        averages: whether a sample with several labels has their mean; else it has their sum.
        ignored: the label that does not count, as its owner writes it.
    """

    of_samples: Loss
    averages: bool = False
    ignored: int = IGNORED

    def __call__(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return each sample's loss."""
        return self.of_samples(logits, labels)

    def with_our_mark(self, labels: Tensor) -> Tensor:
        """Return the labels with −100 where they do not count."""
        if labels.is_floating_point() or self.ignored == IGNORED:
            return labels
        return labels.long().masked_fill(labels == self.ignored, IGNORED)


def per_sample(loss: Loss) -> SampleLoss:
    """Return `loss` as a function that gives one number for each sample.

    A loss with a `reduction`, as torch's own have, is applied to every sample alone, as a batch of
    one: this is what "mean" and "sum" then mean. What "none" leaves is summed. Any other loss must
    give one number for each sample by itself; if it gives several, they are summed.
    """
    reduction = _setting(loss, "reduction")
    if reduction is None:
        return SampleLoss(partial(_checked, loss))
    ignored = _setting(loss, "ignore_index")
    alone = partial(_one_by_one, _in_float64(loss), _is_torch_cross_entropy(loss))
    return SampleLoss(alone, reduction == "mean", IGNORED if ignored is None else ignored)


def class_axis(logits: Tensor, labels: Tensor) -> int:
    """Return where the classes are: last, or second where only that fits the labels, as in torch.

    Outputs without classes have their features there.
    """
    second = logits.dim() > 2 and labels.shape == logits.shape[:1] + logits.shape[2:]  # noqa: PLR2004
    return 1 if second and labels.shape != logits.shape[:-1] else -1


def _checked(loss: Loss, logits: Tensor, labels: Tensor) -> Tensor:
    losses = loss(logits, labels)
    shape = tuple(losses.shape) if isinstance(losses, Tensor) else ()
    if not shape or shape[0] != len(labels):
        raise UserError(
            "the loss must return one number for each sample, not one for the batch "
            f"(it returned the shape {shape} for {len(labels)} samples)"
        )
    return losses.flatten(1).sum(1) if losses.dim() > 1 else losses


def _one_by_one(loss: Loss, is_cross_entropy: bool, logits: Tensor, labels: Tensor) -> Tensor:
    """Apply the loss to every sample alone; one without any label that counts has the loss 0.

    torch wants classes on the second axis, where logits per token have them on the last.
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
            f"the loss of sample {int(losses.isnan().nonzero()[0])} alone is not a number; a "
            "sample that is not to count needs the label −100"
        )
    return losses


def has_label(labels: Tensor) -> Tensor:
    """Return which samples have a label at all: one whose labels are all −100 has no loss."""
    if labels.is_floating_point():
        return torch.ones(len(labels), dtype=torch.bool, device=labels.device)
    return (labels != IGNORED).reshape(len(labels), -1).any(1)


def _setting(loss: Loss, name: str) -> Any:
    """Return what a loss has under this name: as an attribute, or as the default of an argument."""
    if isinstance(loss, nn.Module):
        return getattr(loss, name, None)
    try:
        parameter = inspect.signature(loss).parameters.get(name)
    except (TypeError, ValueError):
        return None
    return None if parameter is None else parameter.default


def _in_float64(loss: Loss) -> Loss:
    """Return a copy whose weights are float64, and for which −100 is the label not to count."""
    marks = {} if _setting(loss, "ignore_index") is None else {"ignore_index": IGNORED}
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
    """Each sample's loss and e = ∂loss/∂logits, in float64 whatever the logits are."""
    logits = logits.detach().double().requires_grad_()
    losses = loss(logits, labels)
    (error,) = torch.autograd.grad(losses.sum(), logits)
    return losses.detach(), error
