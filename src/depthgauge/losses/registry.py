"""Find losses by name, and check a user's own."""

from __future__ import annotations

import inspect

from depthgauge.errors import UserError, one_line
from depthgauge.losses.contract import Loss
from depthgauge.registry import LOSSES


def validate_loss(candidate: object, reference: str) -> type[Loss]:
    """Return the candidate if it is a valid loss; `reference` is how the user named it."""
    if not (isinstance(candidate, type) and issubclass(candidate, Loss)):
        raise UserError(
            f"{reference} is not a loss: it must be a subclass of depthgauge.losses.contract.Loss"
        )
    for attribute in ("name", "summary"):
        if not isinstance(getattr(candidate, attribute, None), str):
            raise UserError(
                f"the loss {reference} has no `{attribute}`; set the attribute to a string"
            )
    if inspect.isabstract(candidate):
        raise UserError(f"the loss {reference} does not define `value`; write that method")
    return candidate


def find_loss(reference: str) -> Loss:
    """Return the loss that a name, or `file.py:Class`, stands for."""
    found, _ = LOSSES.find(reference)
    try:
        return found()
    except Exception as error:
        raise UserError(
            f"the loss {reference} cannot be made without arguments ({one_line(error)}); give each "
            "argument a default"
        ) from error
