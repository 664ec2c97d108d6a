"""Make random streams that depend on their name alone, not on what was drawn before."""

from __future__ import annotations

import hashlib

import torch


def random_stream(*name: int | str) -> torch.Generator:
    """Return a generator seeded by its name, as in `random_stream("batches", seed, epoch)`.

    Every epoch has its own streams, so a run that is interrupted and continued draws the same
    numbers as without the interruption.
    """
    return torch.Generator().manual_seed(stream_seed(*name))


def stream_seed(*name: int | str) -> int:
    """Return the seed of the random stream of this name."""
    digest = hashlib.sha256("/".join(str(part) for part in name).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
