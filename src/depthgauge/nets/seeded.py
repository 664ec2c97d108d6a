"""Seed the random numbers that networks draw: of torch, numpy and Python."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

NUMPY_SEEDS = 2**32
"""numpy's global random state takes seeds below this number."""


def seed_all(seed: int) -> None:
    """Seed the global random states of torch, numpy and Python."""
    torch.manual_seed(seed)
    np.random.seed(seed % NUMPY_SEEDS)  # networks of users draw from this state
    random.seed(seed)


@contextmanager
def seeded(seed: int, device: torch.device | str = "cpu") -> Iterator[None]:
    """Seed all global random states inside the `with` block, and restore them afterwards."""
    numpy_state, python_state = np.random.get_state(), random.getstate()
    is_cuda = torch.device(device).type == "cuda"
    with torch.random.fork_rng([device] if is_cuda else []):
        seed_all(seed)
        try:
            yield
        finally:
            np.random.set_state(numpy_state)
            random.setstate(python_state)
