"""How many runs are trained together, and in how many processes: a rule, nothing is measured.

There is one process of one thread for each core. Cohorts have at most 15 runs, and are cut so that
every process has as much to do. Where memory is short there are fewer runs in a cohort, then fewer
processes.

Which runs are trained together, and with how many threads, fixes results bit for bit. So the choice
follows from the grid, the cores, the free memory and the user's options, and from nothing else.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from depthgauge.errors import UserError
from depthgauge.scheduling.cohorts import LARGEST, alike, even_parts
from depthgauge.scheduling.grid import PlannedRun
from depthgauge.scheduling.memory_estimate import cohort_bytes, process_bytes
from depthgauge.scheduling.resources import available_cores, free_memory
from depthgauge.tasks.base import Task

CLUSTER_PROCESSES = 64
"""Processes that a cluster is taken to have."""

CLUSTER_LEAST = 5
"""Fewest runs in a cohort on a cluster: each cohort loads PyTorch and the data anew."""

STEP_OVERHEAD = 2.0
"""A step of n runs takes as long as n + 2 single runs would without overhead."""

AS_SOON = 1.03
"""Sizes with which a study ends up to 3 % later than with the best are as good."""

SHARE_OF_MEMORY = 0.8
"""The share of the free memory that a study may take."""

GIGABYTE = 1e9


@dataclass(frozen=True)
class Sizing:
    """The most runs in a cohort, and the threads of each process."""

    runs: int
    threads: int


def size_cohorts(
    runs: Sequence[PlannedRun],
    task: Task,
    device: str,
    threads: int | None = None,
    size: int | None = None,
    *,
    cluster: bool = False,
) -> Sizing:
    """Choose how to train these runs; `threads` and `size` where the user has fixed them.

    On a `cluster` a process has a node's memory, which is taken to be that of this machine; whether
    a single run fits is for the cluster to say.

    Raises:
        UserError: a single run does not fit into the free memory.
    """
    device = "cpu" if cluster else device
    threads = threads or (1 if device == "cpu" else available_cores())
    groups = alike(runs)
    if not groups:
        return Sizing(size or LARGEST, threads)
    most = CLUSTER_PROCESSES if cluster else most_processes(threads, device)
    for processes in range(most, 0, -1):
        fitting = _fitting(groups, task, device, 1 if cluster else processes) or int(cluster)
        if fitting and size:
            return Sizing(min(size, fitting), threads)
        if fitting:
            least, largest = CLUSTER_LEAST if cluster else 1, min(LARGEST, fitting)
            counts = [len(group) for group in groups]
            return Sizing(even_size(counts, processes, min(least, largest), largest), threads)
    raise _does_not_fit(groups, task, device)


def most_processes(threads: int, device: str) -> int:
    """Return how many processes of so many threads there are cores for; a GPU has one."""
    return max(1, available_cores() // threads) if device == "cpu" else 1


def processes_for(needs: Sequence[float], threads: int, device: str) -> int:
    """Return how many of these cohorts are trained side by side, by the bytes that each needs."""
    fitting = int(bytes_per_process(1, device) // max(needs))
    return max(1, min(most_processes(threads, device), len(needs), fitting))


def bytes_per_process(processes: int, device: str) -> float:
    """Return the bytes that each of so many processes may take."""
    return SHARE_OF_MEMORY * free_memory(device) / processes


def even_size(groups: Sequence[int], processes: int, least: int, largest: int) -> int:
    """Return the largest cohort size with which the last process ends about as soon as it can."""
    ends = {
        size: _end([STEP_OVERHEAD + part for part in even_parts(groups, size)], processes)
        for size in range(least, largest + 1)
    }
    best = max(size for size, end in ends.items() if end <= AS_SOON * min(ends.values()))
    return max(even_parts(groups, best))


def _end(costs: Sequence[float], processes: int) -> float:
    """Return when the last process ends, if each takes the next cohort as soon as it is free."""
    busy = [0.0] * processes
    for cost in costs:
        heapq.heapreplace(busy, busy[0] + cost)
    return max(busy)


def _fitting(
    groups: Sequence[Sequence[PlannedRun]], task: Task, device: str, processes: int
) -> int:
    """Return the most runs, whichever they are, that one process has memory for; 0 if none."""
    room, most = bytes_per_process(processes, device), max(map(len, groups))
    for group in groups:
        while most and _bytes(group[:most], task, device) > room:
            most -= 1
    return most


def _bytes(runs: Sequence[PlannedRun], task: Task, device: str) -> float:
    """Return what a process needs for these runs, on its device."""
    kind = runs[0].kind
    estimate = process_bytes if device == "cpu" else cohort_bytes
    return estimate(kind.net, kind.recipe, kind.choice.rule_class, task, len(runs))


def _does_not_fit(groups: Sequence[Sequence[PlannedRun]], task: Task, device: str) -> UserError:
    needed, label = max(
        (_bytes(group[:1], task, device), group[0].choice.label) for group in groups
    )
    return UserError(
        f"a single run of {label} needs about {needed / GIGABYTE:.2f} GB of memory, and it may "
        f"use {bytes_per_process(1, device) / GIGABYTE:.2f} GB; a smaller --width or --batch-size "
        "needs less"
    )
