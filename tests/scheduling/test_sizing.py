"""How many runs are trained together, in how many processes: a rule of grid, cores and memory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scheduling.small_grids import TASK, grid

from depthgauge.config import NetConfig
from depthgauge.errors import UserError
from depthgauge.scheduling import sizing
from depthgauge.scheduling.cohorts import LARGEST, even_parts, partition
from depthgauge.scheduling.grid import Grid
from depthgauge.scheduling.memory_estimate import process_bytes
from depthgauge.scheduling.sizing import (
    CLUSTER_LEAST,
    SHARE_OF_MEMORY,
    Sizing,
    even_size,
    processes_for,
    size_cohorts,
)

DEEP = NetConfig(width=64, blocks=4)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(monkeypatch)


class Machine:
    """A machine with so many cores and bytes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._set = monkeypatch.setattr

    def __call__(self, cores: int, free: float = 1e15) -> None:
        self._set(sizing, "available_cores", lambda: cores)
        self._set(sizing, "free_memory", lambda device: free)


def ladder(*rules: str, seeds: int = 3) -> Grid:
    return grid(*(rules or ("bp", "fa", "dfa")), ks=range(5), seeds=range(seeds), net=DEEP)


def sized(planned: Grid, device: str = "cpu", **fixed: object) -> Sizing:
    return size_cohorts(planned.runs(), planned.task, device, **fixed)  # type: ignore[arg-type]


def sizes(planned: Grid, found: Sizing) -> list[int]:
    return [len(cohort.runs) for cohort in partition(planned.runs(), found.runs)]


def needed(planned: Grid, runs: int) -> float:
    kind = planned.runs()[0].kind
    return process_bytes(kind.net, kind.recipe, kind.choice.rule_class, planned.task, runs)


def test_every_core_has_as_much_to_do(machine):
    for cores, rules, expected in [
        (1, ("bp", "fa", "dfa"), [15] * 3),
        (2, ("bp",), [8, 7]),
        (2, ("bp", "fa"), [15] * 2),
        (2, ("bp", "fa", "dfa"), [8, 7] * 3),
        (3, ("bp", "fa", "dfa"), [15] * 3),
        (15, ("bp",), [1] * 15),
    ]:
        machine(cores)
        found = sized(ladder(*rules))
        assert found.threads == 1
        assert sizes(ladder(*rules), found) == expected


@settings(max_examples=60)
@given(
    groups=st.lists(st.integers(1, 60), min_size=1, max_size=6),
    processes=st.integers(1, 64),
)
def test_no_other_size_ends_much_sooner(groups, processes):
    def end(size: int) -> float:
        return finish([2 + part for part in even_parts(groups, size)], processes)

    found = even_size(groups, processes, 1, LARGEST)
    assert 1 <= found <= LARGEST
    assert end(found) <= 1.03 * min(end(size) for size in range(1, LARGEST + 1)) + 1e-9


def finish(costs: Sequence[float], processes: int) -> float:
    """When the last process ends, step by step."""
    waiting, now, left = list(costs), 0.0, [0.0] * processes
    while waiting or any(left):
        for process in range(processes):
            if not left[process] and waiting:
                left[process] = waiting.pop(0)
        step = min(rest for rest in left if rest)
        now += step
        left = [max(0.0, rest - step) for rest in left]
    return now


def test_the_choice_does_not_depend_on_openmp(monkeypatch):
    """On the real machine, with its real cores."""
    cores = len(os.sched_getaffinity(0))
    monkeypatch.setattr("torch.get_num_threads", lambda: 1000)
    assert processes_for([1.0] * 5000, 1, "cpu") <= cores
    assert sized(ladder("bp")).runs >= 15 // cores


# What is fixed, and other devices


@pytest.mark.parametrize(("cores", "threads", "processes"), [(8, 1, 8), (8, 3, 2), (2, 5, 1)])
def test_threads_that_are_fixed_share_the_cores(machine, cores, threads, processes):
    machine(cores)
    assert sized(ladder(), threads=threads).threads == threads
    assert processes_for([1.0] * 20, threads, "cpu") == processes
    assert processes_for([1.0], threads, "cpu") == 1


def test_a_size_that_is_asked_for_is_taken(machine):
    for size, runs in [(1, 1), (4, 4), (15, 15), (45, 45), (100, 45)]:
        for cluster in [True, False]:
            machine(2)
            planned = ladder("bp", seeds=9)
            assert max(sizes(planned, sized(planned, size=size, cluster=cluster))) == runs


def test_a_gpu_has_one_process_with_all_threads(machine):
    machine(8)
    assert sized(ladder(), "cuda") == Sizing(15, 8)
    assert processes_for([1.0] * 3, 8, "cuda") == 1


def test_for_a_cluster_the_cores_here_do_not_count(machine):
    for cores in [1, 64]:
        for device, threads in [("cpu", None), ("cuda", None), ("cpu", 4)]:
            machine(cores)
            found = sized(ladder(), device, threads=threads, cluster=True)
            assert found == Sizing(CLUSTER_LEAST, threads or 1)


def test_where_nothing_is_left_there_is_nothing_to_choose(machine):
    machine(4, free=0.0)
    assert size_cohorts([], TASK, "cpu") == Sizing(LARGEST, 1)


# Memory


def test_first_there_are_fewer_runs_in_a_cohort_then_fewer_processes(machine):
    planned, found = ladder("bp", seeds=6), []
    one, all_runs = needed(planned, 1), needed(planned, 15)
    for free in (2.5 * all_runs, 2.01 * all_runs, 2.02 * one, 1.5 * one, 1.01 * one):
        machine(2, free / SHARE_OF_MEMORY)
        size = sized(planned).runs
        found.append((size, processes_for([needed(planned, size)] * 30, 1, "cpu")))
        assert found[-1][1] * needed(planned, size) <= free
    assert found[0] == found[1] == (15, 2)
    assert found[2][1] == 2
    assert found[2][0] < 15
    assert [processes for _, processes in found[3:]] == [1, 1]
    assert all(one >= other for one, other in pairwise(size for size, _ in found[:3]))


def test_a_size_that_does_not_fit_is_cut(machine):
    planned = ladder("bp")
    machine(1, 1.001 * needed(planned, 6) / SHARE_OF_MEMORY)
    assert sized(planned, size=15).runs == 6


def test_a_run_that_does_not_fit_alone_is_refused(machine):
    machine(2, 0.9 * needed(ladder("bp"), 1) / SHARE_OF_MEMORY)
    with pytest.raises(UserError, match=r"a single run of bp needs about 0\.\d\d GB of memory"):
        sized(ladder("bp"))


def test_a_cohort_larger_than_memory_is_still_tried(machine):
    """It was planned when there was more memory; the worker halves it if it must."""
    machine(4, free=1.0)
    assert processes_for([1e9, 1e9], 1, "cpu") == 1
