"""Run a network wholly in float64, even if its own code casts to another precision."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

SMALLER = (torch.float16, torch.bfloat16, torch.float32)


class Float64Mode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """A mode in which every operation uses float64 instead of a smaller floating-point type.

    The operation's arguments, its results and the types that it asks for are converted. Only an
    operation that writes into its arguments runs unchanged. Language models cast to float32 in
    their own code and lose digits. Without this mode the reference check would take the lost digits
    for a wrong derivative.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Return False: True would make torch import its compiler, which takes seconds."""
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Run an operation with its arguments and results converted to float64."""
        if func._schema.is_mutable:
            return func(*args, **(kwargs or {}))
        args, kwargs = tree_map(_to_float64, (args, kwargs or {}))
        return tree_map(_to_float64, func(*args, **kwargs))


def _to_float64(value: Any) -> Any:
    """Convert a smaller floating-point tensor or type; return other values as they are."""
    if isinstance(value, Tensor):
        return value.double() if value.dtype in SMALLER else value
    return torch.float64 if value in SMALLER else value
