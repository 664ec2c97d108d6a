"""Real refusals of the system: files that may not grow, and files that may not be opened."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Let no process write larger files; as on a full disk, a write then fails."""
    with _limit(resource.RLIMIT_FSIZE, size):
        yield


@contextmanager
def no_files_opened() -> Iterator[None]:
    """Let this process open no further file; each attempt fails with "Too many open files"."""
    lowest_free = os.dup(0)
    os.close(lowest_free)
    with _limit(resource.RLIMIT_NOFILE, lowest_free):
        yield


@contextmanager
def _limit(kind: int, value: int) -> Iterator[None]:
    before = resource.getrlimit(kind)
    resource.setrlimit(kind, (value, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(kind, before)
