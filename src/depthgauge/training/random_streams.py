"""Independent random streams that are functions of their name, not of what was drawn before."""

from __future__ import annotations

import hashlib

import torch


def random_stream(*name: int | str) -> torch.Generator:
    """A generator seeded by its name, such as `random_stream("batches", seed, epoch)`.

    Because every epoch has a stream of its own, a run that continues from an epoch draws what it
    would have drawn without the interruption: the epoch number *is* the random state.
    """
    digest = hashlib.sha256("/".join(str(part) for part in name).encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:8], "big") >> 1)
