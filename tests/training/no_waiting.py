"""Find operations that make a GPU and its host wait for each other, on machines without a GPU.

Two devices stand in for a GPU, because each shows what the other hides. On the CPU, tensors made of
Python's numbers can be recognised. On `meta`, tensors have no data, so nothing can be read, and
copies from the host can be recognised.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

aten = torch.ops.aten

READ_DATA = {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape}
"""What torch says of operations whose result, or its shape, the host must look at."""

MASKED = {aten.index.Tensor, aten.index_put.default, aten.index_put_.default}
"""Operations that read data only if a mask selects the places."""

FROM_NUMBERS = {aten.lift_fresh.default, aten.lift_fresh_copy.default}
CHECKED = {aten._linalg_check_errors.default}


class WaitsError(AssertionError):
    """A GPU would have waited here for the host, or the host for the GPU."""


class NoWaiting(TorchDispatchMode):
    """Refuses operations that would wait: they read data, or copy them to or from the host."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if _reads_data(func, args) or func in FROM_NUMBERS | CHECKED:
            raise WaitsError(f"{func}")
        result = func(*args, **kwargs)
        places = {one.device.type for one in tree_leaves((args, kwargs, result)) if _is_placed(one)}
        if len(places) > 1 and not _asynchronous(func, args, kwargs):
            raise WaitsError(f"{func} between {places}")
        return result


def _reads_data(func: Any, args: Any) -> bool:
    if func in MASKED:
        return any(one is not None and one.dtype in (torch.bool, torch.uint8) for one in args[1])
    return not READ_DATA.isdisjoint(func.tags)


def _is_placed(one: Any) -> bool:
    """Return whether a value is a tensor on a device; a GPU gets single numbers as arguments."""
    return isinstance(one, Tensor) and one.dim() > 0


def _asynchronous(func: Any, args: Any, kwargs: Any) -> bool:
    """Return whether the operation is a copy for which the host does not wait."""
    return bool(kwargs.get("non_blocking") or (func is aten.copy_.default and any(args[2:])))


@contextmanager
def no_waiting_on_cuda() -> Iterator[None]:
    """Let torch refuse operations that wait on a GPU."""
    before = torch.cuda.get_sync_debug_mode()
    torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode(before)


def no_waiting(device: str) -> AbstractContextManager[Any]:
    return no_waiting_on_cuda() if device == "cuda" else NoWaiting()
