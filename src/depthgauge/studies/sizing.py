"""How many runs are trained together, and how many processes side by side, on this machine.

A step of n runs together takes about as long as n + `FIXED` runs, on one core; so large cohorts
waste less, and small ones share out better. The size that ends soonest is chosen, among those that
fit into the memory that is free. No clock is asked, so that the same machine gives the same plan.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import psutil
import torch

from depthgauge.config import NetConfig, Recipe
from depthgauge.gauges.cohort import CHUNK
from depthgauge.store.plan_files import CohortPlan
from depthgauge.studies.partition import LARGEST, alike, even_parts
from depthgauge.studies.plan import Grid, PlannedRun
from depthgauge.tasks.base import Task
from depthgauge.training.cohort import DTYPES

LEAST = 5
"""Fewer are trained together only where no more fit into memory, or there are no more."""

CLUSTER = 64
"""Workers that a cluster is taken to have."""

FIXED = 2.0
"""What a step costs whatever the cohort, in runs; measured on the embedded task."""

SPARED = 0.7
"""The share of the memory that is free now which a study may use."""

ALONE = 4e8
"""Bytes of a process before it has a network."""

CORE_FLOPS = 2e10
"""What a core does in a second, about."""

WORTH_A_PROCESS = 20.0
"""Seconds of work on one core below which starting processes takes longer than it saves."""


@dataclass(frozen=True)
class Sizing:
    """How many runs of a grid are trained together, and the threads for each cohort."""

    runs: int
    threads: int


def size_cohorts(grid: Grid, device: str, threads: int | None, *, cluster: bool = False) -> Sizing:
    """How to train a grid here, or on a cluster; `threads` where they are fixed already."""
    groups = alike(grid.runs())
    counts = [len(runs) for runs in groups]
    cores = torch.get_num_threads()
    here = max(1, cores // (threads or 1)) if device == "cpu" else 1
    if cluster:
        return Sizing(soonest(counts, CLUSTER, runs_that_fit(grid, here)), threads or 1)
    if threads is None and not _worth_processes(groups, grid.task):
        here = 1
    size = soonest(counts, here, runs_that_fit(grid, here))
    return Sizing(size, threads or cores // min(here, len(even_parts(counts, size))))


def soonest(groups: Sequence[int], workers: int, fitting: int) -> int:
    """The cohort size with which groups of so many runs end soonest, the largest if equal."""
    sizes = range(min(LARGEST, fitting), min(LEAST, fitting) - 1, -1)
    return min(sizes, key=lambda size: _time(even_parts(groups, size), workers))


def _time(cohorts: Sequence[int], workers: int) -> float:
    """Until the last of the workers has ended, each taking the next cohort when it is free."""
    busy = [0.0] * workers
    for runs in cohorts:
        heapq.heapreplace(busy, busy[0] + runs + FIXED)
    return max(busy)


def runs_that_fit(grid: Grid, workers: int) -> int:
    """Into the memory of one of so many processes; at least one."""
    largest = max(
        run_bytes(choice.net(grid.net), choice.recipe(grid.recipe), grid.task)
        for choice in grid.rules
    )
    spared = SPARED * psutil.virtual_memory().available / workers - ALONE
    return max(1, int(spared / largest))


def run_bytes(net: NetConfig, recipe: Recipe, task: Task) -> float:
    """Memory that one run more in a cohort takes.

    Weights, gradients and AdamW's two moments; and of every layer what is held while the accuracy
    is read, measured as 7.5 arrays of `CHUNK` samples.
    """
    item = torch.finfo(DTYPES[recipe.dtype]).bits // 8
    held = 7.5 * (net.blocks + 1) * max(net.width, net.hidden or 0) * CHUNK
    return item * (4 * parameters(net, task) + held)


def cohort_bytes(cohort: CohortPlan, task: Task) -> int:
    """Memory of a process that trains a cohort."""
    data = sum(split.x.nbytes for split in (task.train, task.evaluation))
    run = run_bytes(cohort.net, cohort.recipe, task)
    return round(ALONE + data + len(cohort.runs) * run)


def parameters(net: NetConfig, task: Task) -> int:
    """The weights of a network's matrices."""
    blocks = 2 * net.blocks * net.width * (net.hidden or net.width)
    return net.width * (task.input_dim + task.num_classes) + blocks


def _worth_processes(groups: Sequence[Sequence[PlannedRun]], task: Task) -> bool:
    """Whether the study takes longer than it takes to start processes."""
    kinds = [(runs[0].kind, len(runs)) for runs in groups]
    samples = sum(count * kind.recipe.epochs * parameters(kind.net, task) for kind, count in kinds)
    return 6.0 * samples * len(task.train) / CORE_FLOPS > WORTH_A_PROCESS
