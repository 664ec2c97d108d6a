"""Set PyTorch's number of threads for one `with` block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def use_threads(number: int) -> Iterator[None]:
    """Let PyTorch use `number` threads inside the `with` block; restore the old number after it."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)
