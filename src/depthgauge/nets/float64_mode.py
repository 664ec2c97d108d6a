"""Run a network in float64 throughout, also where its own code asks for less."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

SMALLER = (torch.float16, torch.bfloat16, torch.float32)


class Float64Mode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Inside, every smaller floating type is float64: what is asked for, given, and made.

    Language models cast to float32 on the way, whatever their parameters are; what is lost there
    would be taken for a derivative that is not true. Tensors that an operation writes to keep their
    type.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Leave torch's compiler alone: asking it to skip this class imports it, for seconds."""
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Run an operation with what it is given lifted, and lift what it makes."""
        if func._schema.is_mutable:
            return func(*args, **(kwargs or {}))
        args, kwargs = tree_map(_lifted, (args, kwargs or {}))
        return tree_map(_lifted, func(*args, **kwargs))


def _lifted(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.double() if value.dtype in SMALLER else value
    return torch.float64 if value in SMALLER else value
