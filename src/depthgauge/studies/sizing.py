"""How many runs are trained together, and how many processes side by side, on this machine.

Large cohorts share what a step costs whatever its runs; small ones share out better among cores;
threads of one process wait for each other. How long steps take is measured (`pace.py`), how much
memory cohorts hold is counted (`footprint.py`), and of all ways that fit into the memory that is
free, the one that ends soonest is taken. Of small studies both are assumed (`assumed.py`).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import torch

from depthgauge.errors import UserError
from depthgauge.studies.costs import Group, costs_of
from depthgauge.studies.measured import Bench
from depthgauge.studies.partition import LARGEST, even_parts
from depthgauge.studies.plan import PlannedRun
from depthgauge.studies.room import bytes_of, own_bytes, room_for_each, runs_that_fit

GIGABYTE = 1e9

CLUSTER = 64
"""Workers that a cluster is taken to have."""

LEAST = 5
"""Fewer runs are not trained together on a cluster: each cohort loads PyTorch and the data anew."""

STARTING = 3.0
"""Seconds until a process is ready to train."""

ALIKE = 1.03
"""Ways whose times differ by less are taken to be as quick."""


@dataclass(frozen=True)
class Sizing:
    """How many runs are trained together at most, and the threads for each cohort.

    Besides that how many processes there are, seconds until all has ended, bytes of each process,
    and whether the time was measured.
    """

    runs: int
    threads: int
    workers: int = field(default=1, compare=False)
    seconds: float = field(default=0.0, compare=False)
    memory: float = field(default=0.0, compare=False)
    measured: bool = field(default=False, compare=False)


def size_cohorts(
    runs: Sequence[PlannedRun],
    bench: Bench,
    threads: int | None = None,
    size: int | None = None,
    *,
    cluster: bool = False,
    beside: int = 0,
) -> Sizing:
    """How to train these runs here, or on a cluster; `threads` and `size` where they are fixed.

    `beside` is how many cohorts were planned before, which may have to be trained as well.

    Raises:
        UserError: a single run does not fit into memory.
    """
    own_bytes()
    if cluster:
        return _on_a_cluster(runs, bench, threads or 1, size)
    tried = _threads_to_try(threads, bench.device)
    if not runs:
        return Sizing(size or LARGEST, tried[-1])
    groups, ways = costs_of(runs, bench, tried, workers_of(tried[0], bench.device)), []
    for number in tried:
        workers = min(workers_of(number, bench.device), len(runs) + beside)
        room = room_for_each(workers, bench.device)
        ways += _ways(groups, number, workers, _fitting(groups, room), size)
    if not ways:
        raise _does_not_fit(groups, room, workers)
    return _soonest(ways, groups)


def _on_a_cluster(
    runs: Sequence[PlannedRun], bench: Bench, threads: int, size: int | None
) -> Sizing:
    """As if it had many workers with the memory that there is here."""
    if not runs:
        return Sizing(size or LARGEST, threads)
    groups = costs_of(runs, replace(bench, device="cpu"), [threads], 1, here=False)
    fitting = max(1, _fitting(groups, room_for_each(1, "cpu")))
    ways = _ways(groups, threads, CLUSTER, fitting, size)
    return _soonest([way for way in ways if way.runs >= LEAST] or ways[-1:], groups)


def workers_of(threads: int, device: str) -> int:
    """Processes side by side, if there is work for all: one on a GPU."""
    return max(1, torch.get_num_threads() // threads) if device == "cpu" else 1


def _threads_to_try(threads: int | None, device: str) -> list[int]:
    """One, two, four, … up to all."""
    cores = torch.get_num_threads()
    if threads is not None or device != "cpu":
        return [threads or cores]
    return [*(2**power for power in range(cores.bit_length()) if 2**power < cores), cores]


def _fitting(groups: Sequence[Group], room: float) -> int:
    """The most runs that may be trained together, of whichever group."""
    found = [(runs_that_fit(one.runs, one.footprint, room), len(one.runs)) for one in groups]
    return min((fits for fits, all_of in found if fits < all_of), default=max(found)[1])


def _ways(
    groups: Sequence[Group], threads: int, workers: int, fitting: int, size: int | None
) -> list[Sizing]:
    """With so many threads, every size of cohorts that fits; one that is fixed is taken."""
    sizes = [min(size, fitting)] if size else range(1, min(LARGEST, fitting) + 1)
    return [_way(groups, threads, workers, runs) for runs in sizes if runs]


def _way(groups: Sequence[Group], threads: int, workers: int, size: int) -> Sizing:
    parts = [(group, n) for group in groups for n in even_parts([len(group.runs)], size)]
    seconds = [group.steps * group.paces[threads].step(n) for group, n in parts]
    busy = min(workers, len(parts))
    return Sizing(
        max(n for _, n in parts),
        threads,
        busy,
        ends_after(seconds, busy) + (STARTING if busy > 1 else 0.0),
        measured=all(group.timed for group in groups),
    )


def ends_after(cohorts: Sequence[float], workers: int) -> float:
    """When the last of the workers has ended, each taking the next cohort when it is free."""
    busy = [0.0] * workers
    for seconds in cohorts:
        heapq.heapreplace(busy, busy[0] + seconds)
    return max(busy)


def _soonest(ways: Sequence[Sizing], groups: Sequence[Group]) -> Sizing:
    """Of those that end about as soon as any, the one with the largest cohorts."""
    soonest = min(way.seconds for way in ways)
    quick = [way for way in ways if way.seconds <= ALIKE * soonest]
    best = max(quick, key=lambda way: (way.runs, -way.threads))
    held = max(bytes_of(part, one.footprint) for one in groups for part in _parts(one, best.runs))
    return replace(best, memory=own_bytes() + held)


def _parts(group: Group, size: int) -> Iterator[list[PlannedRun]]:
    """The cohorts of a group, as `partition` makes them."""
    rest = iter(group.runs)
    for count in even_parts([len(group.runs)], size):
        yield list(islice(rest, count))


def _does_not_fit(groups: Sequence[Group], room: float, workers: int) -> UserError:
    """Not even one run at a time, with as few processes as there can be."""
    needed, label = max(
        (bytes_of(one.runs[:1], one.footprint), one.runs[0].choice.label) for one in groups
    )
    cure = "a smaller --width or --batch-size needs less"
    if workers > 1:
        cure = f"with --threads {torch.get_num_threads()} from the start there is one process, "
        cure += f"not {workers}"
    return UserError(
        f"a single run of {label} needs {needed / GIGABYTE:.2f} GB of memory, and there are "
        f"{max(0.0, room) / GIGABYTE:.2f} GB that it may use; {cure}"
    )
