"""How many runs of a cohort there is room for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import psutil

from depthgauge.config import RunConfig
from depthgauge.studies.footprint import COMPILER, Footprint, compiler_is_loaded
from depthgauge.studies.free_memory import free_memory
from depthgauge.studies.plan import PlannedRun

SPARED = 0.7
"""The share of the memory that is free now which a study may use."""


@cache
def own_bytes() -> int:
    """Memory of a process that has its task but no network yet: this one, when first asked.

    Without PyTorch's compiler, which counts with the rules that load it.
    """
    return round(psutil.Process().memory_info().rss - COMPILER * compiler_is_loaded())


def room_for_each(workers: int, device: str) -> float:
    """Bytes that each of so many processes may hold beside its task; one is this process."""
    alone = own_bytes() if workers > 1 else 0
    return SPARED * free_memory(device) / workers - alone


def runs_that_fit(runs: Sequence[PlannedRun], footprint: Footprint, room: float) -> int:
    """The most of these runs that can be trained together, whichever of them are; 0 if none can."""
    hungriest = sorted(runs, key=lambda run: -run.k)
    low, high = 0, len(runs)
    while low < high:
        middle = (low + high + 1) // 2
        fits = bytes_of(hungriest[:middle], footprint) <= room
        low, high = (middle, high) if fits else (low, middle - 1)
    return low


def bytes_of(runs: Sequence[PlannedRun | RunConfig], footprint: Footprint) -> float:
    """Of these runs trained together, beside their process."""
    return footprint.bytes_of(len({run.seed for run in runs}), [run.k for run in runs])
