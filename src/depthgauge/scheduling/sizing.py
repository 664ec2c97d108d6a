"""Choose how many runs are trained together, and in how many processes, without measuring.

There is one process of one thread for each core. A cohort has at most 15 runs, and all processes
get about the same work. If memory is short, cohorts are made smaller. If memory is still short,
there are fewer processes.

The results depend, in their last bits, on which runs are in one cohort and on the number of
threads. Therefore the choice depends only on the grid, the cores, the free memory and the user's
options, not on measured times.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from depthgauge.errors import UserError
from depthgauge.scheduling.cohorts import LARGEST, even_parts, group_alike, size_for
from depthgauge.scheduling.grid import PlannedRun
from depthgauge.scheduling.memory_estimate import cohort_bytes, process_bytes
from depthgauge.scheduling.resources import Resources, find_resources
from depthgauge.tasks.base import Task

CLUSTER_PROCESSES = 64
"""The number of processes that a cluster is assumed to run at once."""

CLUSTER_LEAST = 5
"""The fewest runs in a cohort on a cluster, since each cohort loads PyTorch and the data again."""

STEP_OVERHEAD = 2.0
"""The overhead of each step: a step of a cohort of n runs takes as long as n + 2 units of work.

A unit is the work of one run in one step.
"""

TOLERANCE = 1.03
"""How much later than with the fastest cohort size a study may end: 3 %."""

SHARE_OF_MEMORY = 0.8
"""The share of the free memory that a study may use."""

GIGABYTE = 1e9


@dataclass(frozen=True)
class Sizing:
    """The largest number of runs in a cohort, and the number of threads of each process."""

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
    resources: Resources | None = None,
) -> Sizing:
    """Choose the size of cohorts and the number of threads for these runs.

    Args:
        runs: the runs.
        task: their task.
        device: the device on which they are trained.
        threads: the number of threads of each process, if the user fixed it.
        size: the most runs in a cohort, if the user fixed it.
        cluster: whether a cluster trains the runs. Then each process is assumed to have as much
            memory as this machine, and the cluster decides whether a single run fits.
        resources: the cores and the free memory; by default, what this machine has.

    Raises:
        UserError: a single run does not fit into the free memory.
    """
    device = "cpu" if cluster else device
    resources = resources or find_resources(device)
    threads = threads or (1 if device == "cpu" else resources.cores)
    groups = group_alike(runs)
    if not groups:
        return Sizing(size or LARGEST, threads)
    most = CLUSTER_PROCESSES if cluster else most_processes(threads, device, resources)
    for processes in range(most, 0, -1):
        free = bytes_per_process(1 if cluster else processes, resources)
        fitting = _most_that_fit(groups, task, device, free) or int(cluster)
        if fitting and size:
            return Sizing(min(size, fitting), threads)
        if fitting:
            least, largest = CLUSTER_LEAST if cluster else 1, min(LARGEST, fitting)
            counts = [len(g) for g in groups if size_for(g[0].kind.net, len(g)) == len(g)]
            if not counts:
                return Sizing(1, threads)
            return Sizing(even_size(counts, processes, min(least, largest), largest), threads)
    raise _does_not_fit(groups, task, device, bytes_per_process(1, resources))


def most_processes(threads: int, device: str, resources: Resources) -> int:
    """Return how many processes of `threads` threads fit on the cores; on a GPU, return 1."""
    return max(1, resources.cores // threads) if device == "cpu" else 1


def processes_for(
    needs: Sequence[float], threads: int, device: str, resources: Resources | None = None
) -> int:
    """Return in how many processes to train cohorts; `needs` has the bytes of each cohort."""
    resources = resources or find_resources(device)
    fitting = int(bytes_per_process(1, resources) // max(needs))
    return max(1, min(most_processes(threads, device, resources), len(needs), fitting))


def bytes_per_process(processes: int, resources: Resources) -> float:
    """Return the bytes of memory that each process may use if there are `processes` processes."""
    return SHARE_OF_MEMORY * resources.free_bytes / processes


def even_size(groups: Sequence[int], processes: int, least: int, largest: int) -> int:
    """Return the largest cohort size that delays the end of the study by at most 3 %.

    The delay is relative to the fastest size from `least` to `largest`. `groups` has the number of
    runs in each group of runs that can be trained together.
    """
    ends = {
        size: _end([STEP_OVERHEAD + part for part in even_parts(groups, size)], processes)
        for size in range(least, largest + 1)
    }
    best = max(size for size, end in ends.items() if end <= TOLERANCE * min(ends.values()))
    return max(even_parts(groups, best))


def _end(costs: Sequence[float], processes: int) -> float:
    """Return when the last process ends, if every free process takes the next cohort."""
    busy = [0.0] * processes
    for cost in costs:
        heapq.heapreplace(busy, busy[0] + cost)
    return max(busy)


def _most_that_fit(
    groups: Sequence[Sequence[PlannedRun]], task: Task, device: str, free: float
) -> int:
    """Return the largest cohort size that fits into `free` bytes in every group; 0 if none fits."""
    most = max(map(len, groups))
    for group in groups:
        together = group[: size_for(group[0].kind.net, most)]
        while most and _bytes(together[:most], task, device) > free:
            most -= 1
    return most


def _bytes(runs: Sequence[PlannedRun], task: Task, device: str) -> float:
    """Return the bytes that a process needs on the device to train these runs."""
    kind = runs[0].kind
    estimate = process_bytes if device == "cpu" else cohort_bytes
    return estimate(kind.net, kind.recipe, kind.choice.rule_class, task, len(runs))


def _does_not_fit(
    groups: Sequence[Sequence[PlannedRun]], task: Task, device: str, free: float
) -> UserError:
    needed, label = max(
        (_bytes(group[:1], task, device), group[0].choice.label) for group in groups
    )
    return UserError(
        f"a single run of {label} needs about {needed / GIGABYTE:.2f} GB of memory, but may use "
        f"only {free / GIGABYTE:.2f} GB; choose a smaller --width or --batch-size"
    )
