"""Check that targets fit the outputs of a network, before a loss computes with them."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from depthgauge.errors import UserError
from depthgauge.losses.labels import IGNORED


def check_classes(shape: Sequence[int], target: Tensor) -> None:
    """Refuse targets that are no class numbers for outputs of this shape."""
    wanted, given = tuple(shape), tuple(target.shape)
    if target.is_floating_point():
        raise UserError(
            f"the targets are of type {target.dtype}, but cross_entropy compares classes; give one "
            "class number for each sample or token, or use --loss squared_error"
        )
    if given != wanted[:-1]:
        raise UserError(f"labels of shape {given} do not fit {_described(wanted, given)}")
    counted = target[target != IGNORED]
    classes = wanted[-1]
    if counted.numel() and not 0 <= int(counted.min()) <= int(counted.max()) < classes:
        raise UserError(
            f"the labels are from {int(counted.min())} to {int(counted.max())}, but the network "
            f"has {classes} classes; give labels from 0 to {classes - 1}"
        )


def _described(wanted: tuple[int, ...], given: tuple[int, ...]) -> str:
    """Return the end of a sentence about class numbers that do not fit."""
    start = f"logits of shape {wanted}"
    if len(given) > len(wanted) - 1 and given[:1] == wanted[:1]:
        return (
            f"{start}: they name a class for each token, but the network has one output for each "
            "sample; use a network with an output for each token, or give one class number for "
            "each sample"
        )
    if len(given) < len(wanted) - 1 and given[:1] == wanted[:1]:
        return (
            f"{start}: the network has an output for each token; give one class number for each "
            "token, with −100 where a token does not count"
        )
    return f"{start}; give one class number for each sample or token"


def check_numbers(shape: Sequence[int], target: Tensor) -> None:
    """Refuse real targets that do not have the shape of the outputs, or are not finite."""
    if tuple(target.shape) != tuple(shape):
        raise UserError(
            f"targets of shape {tuple(target.shape)} do not fit outputs of shape {tuple(shape)}; "
            "give targets of the outputs' shape"
        )
    if not bool(target.isfinite().all()):
        raise UserError("the targets have values that are NaN or infinite; remove those samples")
