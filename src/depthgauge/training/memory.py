"""Keep the memory that a training step frees, for the next step.

glibc returns large blocks to the system as soon as they are freed. The next step then gets new
pages, which the system fills with zeros: this costs a tenth of a cohort's time. Other allocators
keep freed memory, or have no such setting.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable

import torch

TRIM_THRESHOLD, TOP_PAD, MMAP_MAX = -1, -2, -4
"""The numbers of the settings of glibc's `mallopt`."""

NEVER = -1
GROWTH = 64 * 2**20
"""The number of bytes that glibc requests from the system at a time."""


def keep_freed_memory() -> bool:
    """Let this process keep freed memory from now on; return False if it cannot."""
    mallopt = _from_glibc("mallopt")
    if mallopt is None:
        return False
    settings = ((MMAP_MAX, 0), (TRIM_THRESHOLD, NEVER), (TOP_PAD, GROWTH))
    return all(mallopt(name, value) == 1 for name, value in settings)


def give_freed_memory_back() -> None:
    """Return all freed memory to the system and to the GPU."""
    gc.collect()
    trim = _from_glibc("malloc_trim")
    if trim is not None:
        trim(0)
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def _from_glibc(name: str) -> Callable[..., int] | None:
    """Return glibc's function of this name; None on another system or C library."""
    if not sys.platform.startswith("linux"):
        return None
    return getattr(ctypes.CDLL(None), name, None)
