"""Turn a loss of torch, or a user's function, into a loss with one number for each sample."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from depthgauge.errors import UserError
from depthgauge.losses.contract import Loss
from depthgauge.losses.labels import IGNORED, class_axis, has_label
from depthgauge.losses.registry import find_loss

Function = Callable[..., Tensor]
AnyLoss = Loss | Function | str


class FunctionLoss(Loss):
    """A loss computed by a function or a module.

    Args:
        of_samples: computes the losses of a batch's samples from outputs and targets.
        averages: whether a sample's loss is the mean over its labels; otherwise it is the sum.
        ignored: the label that does not count in this loss.
    """

    name = "function"
    summary = "a loss of torch, or a function of yours"

    def __init__(
        self, of_samples: Function, *, averages: bool = False, ignored: int = IGNORED
    ) -> None:
        self._of_samples, self.averages, self._ignored = of_samples, averages, ignored

    def value(self, output: Tensor, target: Tensor) -> Tensor:
        """Return each sample's loss."""
        return self._of_samples(output, target)

    def error(self, output: Tensor, target: Tensor) -> Tensor:
        """Return e = ∂value_i/∂output_i, by a backward pass."""
        leaf = output.detach().requires_grad_()
        with torch.enable_grad():
            (error,) = torch.autograd.grad(self.value(leaf, target).sum(), leaf)
        return error

    def mark_ignored(self, labels: Tensor) -> Tensor:
        """Return the labels with −100 in place of this loss's own ignored label."""
        if labels.is_floating_point() or self._ignored == IGNORED:
            return labels
        return labels.long().masked_fill(labels == self._ignored, IGNORED)


def as_loss(loss: AnyLoss) -> Loss:
    """Return the loss that is given as an object, by name, or as a function or module.

    A function or module with a `reduction` (all of torch's have one) is applied to every sample
    alone, as a batch of one, so "mean" and "sum" are over the sample's labels. With "none" the
    sample's numbers are summed. One without a `reduction` must itself return one number, or several
    that are summed, for each sample.
    """
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, str):
        return find_loss(loss)
    reduction = _read_setting(loss, "reduction")
    if reduction is None:
        return FunctionLoss(partial(_checked_losses, loss))
    ignored = _read_setting(loss, "ignore_index")
    alone = partial(_losses_one_by_one, _in_float64(loss), _is_torch_cross_entropy(loss))
    return FunctionLoss(
        alone, averages=reduction == "mean", ignored=IGNORED if ignored is None else ignored
    )


def _checked_losses(loss: Function, logits: Tensor, labels: Tensor) -> Tensor:
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
    loss: Function, is_cross_entropy: bool, logits: Tensor, labels: Tensor
) -> Tensor:
    """Apply a loss to every sample alone; a sample without a label that counts has the loss 0.

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


def _read_setting(loss: Function, name: str) -> Any:
    """Return a loss's setting: the attribute of a module, or the default of an argument."""
    if isinstance(loss, nn.Module):
        return getattr(loss, name, None)
    try:
        parameter = inspect.signature(loss).parameters.get(name)
    except (TypeError, ValueError):
        return None
    return None if parameter is None else parameter.default


def _in_float64(loss: Function) -> Function:
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


def _is_torch_cross_entropy(loss: Function) -> bool:
    function = getattr(loss, "func", loss)
    return isinstance(loss, nn.CrossEntropyLoss | nn.NLLLoss) or function in (
        nn.functional.cross_entropy,
        nn.functional.nll_loss,
    )
