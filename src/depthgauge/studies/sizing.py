"""How many runs are trained together, and how many processes side by side, on this machine.

Large cohorts share what a step costs whatever its runs; small ones share out better among cores;
threads of one process wait for each other. How long steps take is measured (`pace.py`), how much
memory cohorts hold is counted (`footprint.py`), and of all ways that fit into the memory that is
free, the one that ends soonest is taken.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from depthgauge.config import NetConfig
from depthgauge.errors import UserError
from depthgauge.studies.footprint import Footprint
from depthgauge.studies.measured import Bench
from depthgauge.studies.pace import Pace
from depthgauge.studies.partition import LARGEST, alike, even_parts
from depthgauge.studies.plan import PlannedRun
from depthgauge.studies.room import own_bytes, room_for_each, runs_that_fit
from depthgauge.tasks.base import Task

GIGABYTE = 1e9

CLUSTER = 64
"""Workers that a cluster is taken to have."""

SOMEWHERE = Pace(2.0, 1.0)
"""Of a node that cannot be asked: a step takes as long as two runs more would."""

STARTING = 3.0
"""Seconds until a process is ready to train."""

ALIKE = 1.03
"""Ways whose times differ by less are taken to be as quick."""

CORE_FLOPS = 2e10
"""What a core does in a second, about."""

WORTH_MEASURING = 20.0
"""Seconds of work on one core below which other ways would save nothing."""


@dataclass(frozen=True)
class Sizing:
    """How many runs are trained together at most, and the threads for each cohort.

    Where it was measured also how long it all takes, and the bytes of each process.
    """

    runs: int
    threads: int
    seconds: float | None = field(default=None, compare=False)
    memory: float | None = field(default=None, compare=False)


@dataclass(frozen=True)
class _Group:
    """Runs that can be trained together, and what cohorts of them hold."""

    runs: Sequence[PlannedRun]
    footprint: Footprint


def size_cohorts(
    runs: Sequence[PlannedRun],
    bench: Bench,
    threads: int | None = None,
    size: int | None = None,
    *,
    cluster: bool = False,
) -> Sizing:
    """How to train these runs here, or on a cluster; `threads` and `size` where they are fixed.

    Raises:
        UserError: a single run does not fit into memory.
    """
    together, cores = alike(runs), torch.get_num_threads()
    if not cluster and _is_small(together, bench.task):
        return Sizing(size or LARGEST, threads or cores)
    own_bytes()
    groups = [group for members in together if (group := _counted(members, bench))]
    if cluster:
        return Sizing(size or _for_cluster(together, groups), threads or 1)
    ways = [
        way
        for number in _threads_to_try(threads, cores, bench.device)
        for way in _ways(groups, bench, number, size)
    ]
    return _soonest(ways) if groups else Sizing(size or LARGEST, threads or cores)


def workers_of(threads: int, device: str) -> int:
    """Processes side by side, if there is work for all: one on a GPU."""
    return max(1, torch.get_num_threads() // threads) if device == "cpu" else 1


def _is_small(together: Sequence[Sequence[PlannedRun]], task: Task) -> bool:
    """Whether it is over before anything could be gained, and needs next to no memory."""
    kinds = [(runs[0].kind, len(runs)) for runs in together]
    samples = sum(count * kind.recipe.epochs * parameters(kind.net, task) for kind, count in kinds)
    seconds = 6.0 * samples * len(task.train) / CORE_FLOPS
    largest = LARGEST * max(parameters(kind.net, task) for kind, _ in kinds)
    return seconds < WORTH_MEASURING and largest < MANY_WEIGHTS


def parameters(net: NetConfig, task: Task) -> int:
    """The weights of a network's matrices."""
    blocks = 2 * net.blocks * net.width * (net.hidden or net.width)
    return net.width * (task.input_dim + task.num_classes) + blocks


def _counted(runs: Sequence[PlannedRun], bench: Bench) -> _Group | None:
    """Runs with what they hold; None if the rule fails, which training will write down."""
    try:
        return _Group(runs, bench.footprint(runs[0].config, runs[0].choice.build()))
    except UserError:
        raise
    except Exception:  # noqa: BLE001
        return None


def _threads_to_try(threads: int | None, cores: int, device: str) -> list[int]:
    """One, two, four, … up to all."""
    if threads is not None or device != "cpu":
        return [threads or cores]
    return [*(2**power for power in range(cores.bit_length()) if 2**power < cores), cores]


def _ways(groups: Sequence[_Group], bench: Bench, threads: int, size: int | None) -> list[Sizing]:
    """With so many threads, every size of cohorts that fits; a size that is fixed is taken."""
    workers = workers_of(threads, bench.device)
    room = room_for_each(workers, bench.device)
    fitting = min(
        (runs_that_fit(group.runs, group.footprint, room) for group in groups), default=0
    )
    ...
