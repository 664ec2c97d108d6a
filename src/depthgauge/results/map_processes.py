"""A large table made in parts by all cores."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import TypeVar

from depthgauge.studies.tidy import TidyTable

Made = TypeVar("Made")
Make = Callable[[TidyTable, slice], Made]

AT_ONCE = 200
"""Cohorts of a part: some thousand rows, which is little memory and much to do."""

MOST = 4
"""Processes: each of them holds the plan."""

_table: TidyTable
"""In a process that makes parts, the table they are of."""


def in_parts(table: TidyTable, make: Make[Made]) -> Iterator[Made]:
    """What `make` makes of each part, in order; a small table is made right here."""
    parts = [slice(begin, begin + AT_ONCE) for begin in range(0, len(table), AT_ONCE)]
    workers = min(os.cpu_count() or 1, len(parts) // 2, MOST)
    if workers < 2:  # noqa: PLR2004
        yield from (make(table, part) for part in parts)
        return
    with ProcessPoolExecutor(workers, initializer=_hold, initargs=(table,)) as pool:
        yield from pool.map(partial(_made, make), parts)


def _hold(table: TidyTable) -> None:
    """Ctrl-C reaches every process at once; the one that writes answers it."""
    global _table  # noqa: PLW0603
    _table = table
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _made(make: Make[Made], part: slice) -> Made:
    return make(_table, part)
