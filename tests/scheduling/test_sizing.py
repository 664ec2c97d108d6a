"""How many runs are trained together, and with how many threads: whatever ends soonest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from depthgauge.studies.measured import Bench
from depthgauge.studies.pace import Pace
from hypothesis import given, settings
from hypothesis import strategies as st
from studies.other_machines import DEEP, costing, long_study, machine, middling, sized, sizes
from studies.small_grids import TASK, grid

from depthgauge.config import Recipe
from depthgauge.scheduling.cohorts import LARGEST
from depthgauge.scheduling.local import workers_for
from depthgauge.scheduling.plan import Grid
from depthgauge.scheduling.sizing import ALIKE, LEAST, Sizing, ends_after, size_cohorts


def at_a_time(planned: Grid, sizing: Sizing, device: str = "cpu") -> int:
    """How many cohorts are trained side by side."""
    return workers_for(len(sizes(planned, sizing)), sizing.threads, device)


# The size that ends soonest


def parts_of(group: int, size: int) -> list[int]:
    return [len(part) for part in np.array_split(range(group), math.ceil(group / size))]


def by_hand(cohorts: Sequence[float], workers: int) -> float:
    """All workers at work, each with the next cohort as soon as it is free."""
    waiting, now, left = list(cohorts), 0.0, [0.0] * workers
    while waiting or any(left):
        for worker in range(workers):
            if not left[worker] and waiting:
                left[worker] = waiting.pop(0)
        step = min(rest for rest in left if rest)
        now += step
        left = [max(0.0, rest - step) for rest in left]
    return now


@given(st.lists(st.integers(1, 60), max_size=20), st.integers(1, 9))
def test_each_worker_takes_the_next_cohort_when_it_is_free(cohorts, workers):
    assert ends_after(cohorts, workers) == by_hand(cohorts, workers)


@settings(max_examples=25)
@given(
    seeds=st.integers(1, 7),
    cores=st.sampled_from([1, 2, 3, 8]),
    fixed=st.floats(0, 20),
    faster=st.floats(0, 1),
)
def test_no_other_way_ends_sooner(seeds, cores, fixed, faster):
    """Of all numbers of threads and sizes; starting processes takes next to nothing here."""
    planned = long_study(("bp", "dfa"), seeds)
    with machine(cores), costing(Pace(fixed, 1.0), faster=faster):
        found = sized(planned)
        assert found.workers == at_a_time(planned, found)
    assert found.measured

    def ends(threads: int, size: int) -> float:
        cohorts = [n + fixed for _ in range(2) for n in parts_of(5 * seeds, size)]
        return by_hand(cohorts, cores // threads) / threads**faster

    tried = {1, 2, 4, 8} & set(range(1, cores)) | {cores}
    best = min(ends(threads, size) for threads in tried for size in range(1, LARGEST + 1))
    assert ends(found.threads, found.runs) <= 1.001 * ALIKE * best


@pytest.mark.parametrize(
    ("cores", "seeds", "runs"), [(1, 3, [15, 15, 15]), (2, 3, [8, 7] * 3), (3, 3, [15] * 3)]
)
@pytest.mark.parametrize("measured", [True, False])
def test_cohorts_of_long_studies_are_shared_out_among_the_cores(cores, seeds, runs, measured):
    planned = long_study(seeds=seeds) if measured else middling(long_study(seeds=seeds))
    with machine(cores), costing(Pace(2.0, 1.0)):
        sizing = sized(planned)
        assert (sizing.threads, sizing.workers) == (1, min(cores, len(runs)))
    assert sizes(planned, sizing) == runs
    assert sizing.measured == measured


@settings(max_examples=20)
@given(cores=st.integers(1, 64), rules=st.integers(1, 3), seeds=st.integers(1, 9))
def test_no_core_is_asked_twice_and_a_started_study_is_sized_as_a_new_one(cores, rules, seeds):
    """A study that was started has its threads fixed."""
    planned = long_study(("bp", "fa", "dfa")[:rules], seeds)
    with machine(cores), costing(Pace(2.0, 1.0)):
        sizing = sized(planned)
        assert sizing.threads * sizing.workers <= cores
        assert sized(planned, "cpu", sizing.threads) == sizing


# Small studies, what is fixed, other devices


@pytest.mark.parametrize("cores", [1, 2, 8])
def test_a_small_study_stays_in_one_process_with_all_threads(cores):
    planned = grid("bp", "fa", "dfa", ks=range(5), seeds=(1, 2, 3), net=DEEP)
    with machine(cores):
        sizing = sized(planned)
        assert sizing == Sizing(runs=15, threads=cores)
        assert (at_a_time(planned, sizing), sizing.workers, sizing.measured) == (1, 1, False)


@pytest.mark.parametrize(("cores", "threads", "workers"), [(8, 1, 8), (8, 3, 2), (2, 5, 1)])
def test_threads_that_are_fixed_stay(cores, threads, workers):
    for planned in (long_study(), middling(long_study()), grid("bp", ks=range(3), seeds=range(9))):
        with machine(cores), costing(Pace(2.0, 1.0)):
            sizing = sized(planned, "cpu", threads)
            assert sizing.threads == threads
            assert sizing.workers == min(workers, len(sizes(planned, sizing)))


@pytest.mark.parametrize(("size", "runs"), [(1, 1), (4, 4), (15, 15), (45, 45), (100, 45)])
@pytest.mark.parametrize("cluster", [True, False])
def test_a_size_that_is_fixed_stays_also_beyond_what_would_be_chosen(size, runs, cluster):
    planned = long_study(("bp",), seeds=9)
    for one in (planned, middling(planned), replace(planned, recipe=Recipe(epochs=1))):
        with machine(2), costing(Pace(2.0, 1.0)):
            sizing = sized(one, "cpu", None, size, cluster=cluster)
        assert max(sizes(one, sizing)) == runs


@pytest.mark.parametrize(("cluster", "threads"), [(True, 1), (False, 4)])
def test_where_nothing_is_left_to_plan_nothing_is_tried(cluster, threads):
    with machine(4), costing(Pace(math.nan, math.nan)):
        found = size_cohorts([], Bench(TASK, "cpu"), cluster=cluster)
    assert found == Sizing(LARGEST, threads)


@pytest.mark.parametrize("cores", [1, 64])
@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("threads", [None, 4])
def test_for_a_cluster_the_cores_here_do_not_count(cores, device, threads):
    """Nor is anything timed here."""
    for planned in (long_study(), middling(long_study())):
        with machine(cores), costing(Pace(math.nan, math.nan)):
            sizing = sized(planned, device, threads, cluster=True)
        assert sizing == Sizing(LEAST, threads or 1)
        assert not sizing.measured
