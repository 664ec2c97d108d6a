"""Other machines, as far as sizing can see, and studies long enough to need them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import patch

import psutil
import torch
from studies.small_grids import grid

from depthgauge.config import NetConfig, Recipe
from depthgauge.studies import free_memory, measured, room, sizing
from depthgauge.studies.footprint import Footprint, Held
from depthgauge.studies.measured import Bench
from depthgauge.studies.pace import Pace
from depthgauge.studies.partition import partition
from depthgauge.studies.plan import Grid
from depthgauge.studies.sizing import Sizing, size_cohorts

DEEP = NetConfig(width=4, blocks=4)
PLENTY, OWN = 1e12, 10**8


@contextmanager
def machine(cores: int = 1, memory: float = PLENTY) -> Iterator[None]:
    """Another machine, as far as can be seen; a process there takes `OWN` bytes."""
    free = SimpleNamespace(available=memory)
    with (
        patch.object(torch, "get_num_threads", lambda: cores),
        patch.object(psutil, "virtual_memory", lambda: free),
        patch.object(free_memory, "_left_in_group", lambda _: math.inf),
        patch.object(room, "own_bytes", lambda: OWN),
        patch.object(sizing, "own_bytes", lambda: OWN),
    ):
        yield


@contextmanager
def costing(pace: Pace, run_bytes: float = 0.0, faster: float = 0.6) -> Iterator[None]:
    """Where steps take so long, with n threads n^faster as short, and every run so much memory."""

    def paces(runs: object, task: object, device: str, engine: str, threads: Sequence[int]):
        return {n: Pace(pace.fixed / n**faster, pace.run / n**faster) for n in threads}

    footprint = Footprint((Held(0, 0, run_bytes, 0),))
    with (
        patch.object(measured, "measure_paces", paces),
        patch.object(measured, "count_footprint", lambda *_: footprint),
        patch.object(measured, "content_of", lambda path: None),
        patch.object(measured, "_keep", lambda *_: None),
    ):
        yield


def long_study(rules: Sequence[str] = ("bp", "fa", "dfa"), seeds: int = 3) -> Grid:
    """Five runs for each seed and rule, which take long enough to be measured."""
    planned = grid(*rules, ks=range(5), seeds=range(seeds), net=DEEP)
    return replace(planned, recipe=Recipe(epochs=10**9))


def middling(planned: Grid) -> Grid:
    """Worth several processes, not worth measuring."""
    return replace(planned, recipe=Recipe(epochs=10**5))


def sized(planned: Grid, device: str = "cpu", *fixed: int | None, cluster: bool = False) -> Sizing:
    """How a grid is trained."""
    return size_cohorts(planned.runs(), Bench(planned.task, device), *fixed, cluster=cluster)


def sizes(planned: Grid, found: Sizing) -> list[int]:
    return [len(cohort.runs) for cohort in partition(planned.runs(), found.runs)]
