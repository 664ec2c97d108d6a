"""How many runs are trained together, in how many processes: a rule of grid, cores and memory."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scheduling.small_grids import TASK, grid

from depthgauge.config import NetConfig
from depthgauge.errors import UserError
from depthgauge.scheduling.cohorts import LARGEST, even_parts, partition
from depthgauge.scheduling.grid import Grid
from depthgauge.scheduling.memory_estimate import process_bytes
from depthgauge.scheduling.resources import Resources, available_cores
from depthgauge.scheduling.sizing import (
    CLUSTER_LEAST,
    SHARE_OF_MEMORY,
    Sizing,
    even_size,
    processes_for,
    size_cohorts,
)
from depthgauge.training.threads import use_threads

DEEP = NetConfig(width=64, blocks=4)


def machine(cores: int, free: float = 1e15) -> Resources:
    return Resources(cores, free)


def ladder(*rules: str, seeds: int = 3) -> Grid:
    return grid(*(rules or ("bp", "fa", "dfa")), ks=range(5), seeds=range(seeds), net=DEEP)


def sized(
    planned: Grid, resources: Resources | None = None, device: str = "cpu", **fixed: Any
) -> Sizing:
    return size_cohorts(planned.runs(), planned.task, device, resources=resources, **fixed)


def sizes(planned: Grid, found: Sizing) -> list[int]:
    return [len(cohort.runs) for cohort in partition(planned.runs(), found.runs)]


def needed(planned: Grid, runs: int) -> float:
    kind = planned.runs()[0].kind
    return process_bytes(kind.net, kind.recipe, kind.choice.rule_class, planned.task, runs)


def test_every_core_has_as_much_to_do():
    for cores, rules, expected in [
        (1, ("bp", "fa", "dfa"), [15] * 3),
        (2, ("bp",), [8, 7]),
        (2, ("bp", "fa"), [15] * 2),
        (2, ("bp", "fa", "dfa"), [8, 7] * 3),
        (3, ("bp", "fa", "dfa"), [15] * 3),
        (15, ("bp",), [1] * 15),
    ]:
        found = sized(ladder(*rules), machine(cores))
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


@pytest.mark.parametrize("threads", [1, 5])
def test_the_choice_does_not_depend_on_openmp(threads):
    """On the real machine, with its real cores."""
    cores = available_cores()
    with use_threads(threads):
        assert processes_for([1.0] * 5000, 1, "cpu") == cores
        assert sized(ladder("bp")) == sized(ladder("bp"), machine(cores))


# What is fixed, and other devices


@pytest.mark.parametrize(("cores", "threads", "processes"), [(8, 1, 8), (8, 3, 2), (2, 5, 1)])
def test_threads_that_are_fixed_share_the_cores(cores, threads, processes):
    here = machine(cores)
    assert sized(ladder(), here, threads=threads).threads == threads
    assert processes_for([1.0] * 20, threads, "cpu", here) == processes
    assert processes_for([1.0], threads, "cpu", here) == 1


def test_a_size_that_is_asked_for_is_taken():
    for size, runs in [(1, 1), (4, 4), (15, 15), (45, 45), (100, 45)]:
        for cluster in [True, False]:
            planned = ladder("bp", seeds=9)
            found = sized(planned, machine(2), size=size, cluster=cluster)
            assert max(sizes(planned, found)) == runs


def test_a_gpu_has_one_process_with_all_threads():
    assert sized(ladder(), machine(8), "cuda") == Sizing(15, 8)
    assert processes_for([1.0] * 3, 8, "cuda", machine(8)) == 1


def test_for_a_cluster_the_cores_here_do_not_count():
    for cores in [1, 64]:
        for device, threads in [("cpu", None), ("cuda", None), ("cpu", 4)]:
            found = sized(ladder(), machine(cores), device, threads=threads, cluster=True)
            assert found == Sizing(CLUSTER_LEAST, threads or 1)


def test_where_nothing_is_left_there_is_nothing_to_choose():
    assert size_cohorts([], TASK, "cpu", resources=machine(4, free=0.0)) == Sizing(LARGEST, 1)


# Memory


def test_first_there_are_fewer_runs_in_a_cohort_then_fewer_processes():
    planned, found = ladder("bp", seeds=6), []
    one, all_runs = needed(planned, 1), needed(planned, 15)
    for free in (2.5 * all_runs, 2.01 * all_runs, 2.02 * one, 1.5 * one, 1.01 * one):
        here = machine(2, free / SHARE_OF_MEMORY)
        size = sized(planned, here).runs
        found.append((size, processes_for([needed(planned, size)] * 30, 1, "cpu", here)))
        assert found[-1][1] * needed(planned, size) <= free
    assert found[0] == found[1] == (15, 2)
    assert found[2][1] == 2
    assert found[2][0] < 15
    assert [processes for _, processes in found[3:]] == [1, 1]
    assert all(one >= other for one, other in pairwise(size for size, _ in found[:3]))


def test_a_size_that_does_not_fit_is_cut():
    planned = ladder("bp")
    here = machine(1, 1.001 * needed(planned, 6) / SHARE_OF_MEMORY)
    assert sized(planned, here, size=15).runs == 6


def test_a_run_that_does_not_fit_alone_is_refused():
    here = machine(2, 0.9 * needed(ladder("bp"), 1) / SHARE_OF_MEMORY)
    with pytest.raises(UserError, match=r"a single run of bp needs about 0\.\d\d GB of memory"):
        sized(ladder("bp"), here)


def test_a_cohort_larger_than_memory_is_still_tried():
    """It was planned when there was more memory; the worker halves it if it must."""
    assert processes_for([1e9, 1e9], 1, "cpu", machine(4, free=1.0)) == 1
