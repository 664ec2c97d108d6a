"""Find numbers of a network that are not finite."""

from __future__ import annotations

from torch import nn


def name_not_finite(model: nn.Module) -> str | None:
    """Return the name of a parameter or buffer with bad numbers; None if all are good.

    A parameter must be finite. A buffer may have infinities, as a causal mask of −∞ has, but no
    NaN.
    """
    for name, parameter in model.named_parameters():
        if not bool(parameter.isfinite().all()):
            return name
    for name, buffer in model.named_buffers():
        if bool(buffer.isnan().any()):
            return name
    return None
