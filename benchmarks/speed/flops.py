"""Operations of matrix products: their number, and the peak rate of this machine."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

LINEAR = ("_linear_pointwise",)
"""Products x·weightᵀ by oneDNN, which torch's counter leaves out."""


class CountedProducts(TorchDispatchMode):
    """Counts the operations of every matrix product inside the context, by torch's formulas.

    torch's own counter does not see the gradients that rules take inside a vmap.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.by_operation: Counter[str] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        name = func._overloadpacket.__name__
        formula = flop_registry.get(func._overloadpacket)
        if name in LINEAR:
            self.by_operation[name] += 2 * args[0].numel() * len(args[1])
        elif formula is not None:
            self.by_operation[name] += formula(*args, **(kwargs or {}), out_val=out)
        return out

    @property
    def flops(self) -> float:
        """Return the operations of all products."""
        return float(sum(self.by_operation.values()))


def peak_flops(size: int = 2048) -> float:
    """Return the operations per second of one large matrix product with all threads."""
    a, b = torch.randn(size, size), torch.randn(size, size)
    began = time.perf_counter()
    a @ b
    return 2 * size**3 / (time.perf_counter() - began)
