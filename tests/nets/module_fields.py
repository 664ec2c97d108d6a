"""Everything that a module and its submodules hold, to be compared before and after."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn


def fields(model: nn.Module) -> dict[str, Any]:
    """Every attribute of every submodule, tensors bit for bit, and torch's random state.

    Among the attributes are the modes, all dictionaries of hooks, parameters and buffers.
    """
    held = {
        f"{name or 'model'}.{attribute}": _kept(value)
        for name, module in model.named_modules()
        for attribute, value in vars(module).items()
    }
    return {"random state": bits(torch.get_rng_state()), **held}


def _kept(value: Any) -> Any:
    if isinstance(value, Tensor):
        return _kept_tensor(value)
    if isinstance(value, Mapping):
        return [(key, _kept(item)) for key, item in value.items()]
    if isinstance(value, bool | int | float | str | None):
        return value
    return id(value)


def _kept_tensor(tensor: Tensor) -> tuple[Any, ...]:
    return (
        id(tensor),
        tensor.dtype,
        tuple(tensor.shape),
        bits(tensor),
        tensor.requires_grad,
        dict(tensor._backward_hooks or {}),
        _kept(tensor.grad) if tensor.is_leaf else None,
    )


def bits(tensor: Tensor) -> bytes:
    return tensor.detach().reshape(-1).view(torch.uint8).numpy().tobytes()
