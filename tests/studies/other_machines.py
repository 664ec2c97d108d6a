"""Other machines, as far as sizing can see, and studies long enough to need them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import patch

import psutil
import torch
from studies.small_grids import grid

from depthgauge.config import NetConfig, Recipe
from depthgauge.studies.partition import partition
from depthgauge.studies.plan import Grid
from depthgauge.studies.sizing import Sizing

DEEP = NetConfig(width=4, blocks=4)
PLENTY = 1e12


@contextmanager
def machine(cores: int = 1, memory: float = PLENTY) -> Iterator[None]:
    """Another machine, as far as can be seen."""
    free = SimpleNamespace(available=memory)
    with (
        patch.object(torch, "get_num_threads", lambda: cores),
        patch.object(psutil, "virtual_memory", lambda: free),
    ):
        yield


def long_study(rules: Sequence[str] = ("bp", "fa", "dfa"), seeds: int = 3) -> Grid:
    """Five runs for each seed and rule, which take much longer than starting processes."""
    planned = grid(*rules, ks=range(5), seeds=range(seeds), net=DEEP)
    return replace(planned, recipe=Recipe(epochs=10**7))


def sizes(planned: Grid, sizing: Sizing) -> list[int]:
    return [len(cohort.runs) for cohort in partition(planned.runs(), sizing.runs)]
