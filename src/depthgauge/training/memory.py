"""Memory that a step frees stays with the process, for the next step.

glibc hands large blocks back to the system as soon as they are freed. The next step then gets new
pages, which the system fills with zeros first: a tenth of a cohort's time. Other allocators keep
what is freed, or have no such switch.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable

import torch

TRIM_THRESHOLD, TOP_PAD, MMAP_MAX = -1, -2, -4
"""What glibc's `mallopt` calls its settings."""

NEVER = -1
GROWTH = 64 * 2**20
"""Bytes that are asked of the system at a time."""


def keep_freed_memory() -> bool:
    """For the rest of this process's life; whether the allocator can."""
    mallopt = _from_glibc("mallopt")
    if mallopt is None:
        return False
    settings = ((MMAP_MAX, 0), (TRIM_THRESHOLD, NEVER), (TOP_PAD, GROWTH))
    return all(mallopt(name, value) == 1 for name, value in settings)


def give_freed_memory_back() -> None:
    """Now, all that nothing holds any more, here and on a GPU, before something else begins."""
    gc.collect()
    trim = _from_glibc("malloc_trim")
    if trim is not None:
        trim(0)
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def _from_glibc(name: str) -> Callable[..., int] | None:
    """The function of that name, if the C library has it."""
    if not sys.platform.startswith("linux"):
        return None
    return getattr(ctypes.CDLL(None), name, None)
