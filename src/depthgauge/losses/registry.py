"""Find losses by name, and check a user's own."""

from __future__ import annotations

import inspect

from depthgauge.errors import UserError, one_line
from depthgauge.losses.contract import Loss
from depthgauge.losses.user_losses import reference_of_loss
from depthgauge.registry import LOSSES


def validate_loss(candidate: object, reference: str) -> type[Loss]:
    """Return the candidate if it is a valid loss; `reference` is how the user named it."""
    if not (isinstance(candidate, type) and issubclass(candidate, Loss)):
        raise UserError(f"{reference} is not a loss: it must be a subclass of depthgauge.Loss")
    for attribute in ("name", "summary"):
        if not isinstance(getattr(candidate, attribute, None), str):
            raise UserError(
                f"the loss {reference} has no `{attribute}`; set the attribute to a string"
            )
    if inspect.isabstract(candidate):
        raise UserError(f"the loss {reference} does not define `value`; write that method")
    value, error = (_definer(candidate, method) for method in ("value", "error"))
    if error is not Loss and value is not error and issubclass(value, error):
        raise UserError(
            f"the loss {reference} has a `value` of its own, but the `error` of {error.__name__}; "
            "write `error` too, or derive the class from Loss"
        )
    return candidate


def _definer(loss: type[Loss], method: str) -> type[Loss]:
    """Return the class that defines a method of a loss."""
    return next(kind for kind in loss.__mro__ if method in vars(kind))


def find_loss(reference: str) -> Loss:
    """Return the loss of a name, of `file.py:Class`, or of a recipe's `Class@digits`."""
    found, _ = LOSSES.find(reference_of_loss(reference))
    try:
        return found()
    except Exception as error:
        raise UserError(
            f"the loss {reference} cannot be made without arguments ({one_line(error)}); give each "
            "argument a default"
        ) from error
