"""How many bytes of tensors are alive at once, counted while code runs."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class LiveBytes(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the storages that are made inside its block, until they are freed.

    It asks no allocator: the figure is the same on every machine, whatever else a process holds.
    What operations need inside themselves is not seen.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.now = self._most = 0
        self._alive: set[int] = set()

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Nothing is compiled here; to say so to torch's compiler would load it, for 2 s."""
        return False

    @contextmanager
    def most(self, found: list[int]) -> Iterator[None]:
        """Add the most bytes alive at once inside this block to `found`."""
        self._most = self.now
        yield
        found.append(self._most)

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Run the operation; what it returns and was not given is new."""
        given = {storage._cdata for storage in _storages((args, kwargs))}
        out = func(*args, **(kwargs or {}))
        for storage in _storages(out):
            if storage._cdata not in given | self._alive:
                self._count(storage)
        return out

    def _count(self, storage: torch.UntypedStorage) -> None:
        own, size = storage._cdata, storage.nbytes()
        self._alive.add(own)
        self.now += size
        self._most = max(self._most, self.now)
        weakref.finalize(storage, self._forget, own, size)

    def _forget(self, own: int, size: int) -> None:
        self._alive.discard(own)
        self.now -= size


def _storages(tree: Any) -> list[torch.UntypedStorage]:
    return [leaf.untyped_storage() for leaf in tree_leaves(tree) if isinstance(leaf, Tensor)]
