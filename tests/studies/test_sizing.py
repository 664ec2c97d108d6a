"""How many runs are trained together, and with how many threads: by cores and work."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from studies.other_machines import DEEP, long_study, machine, sizes
from studies.small_grids import grid
from training.small_runs import make_task

from depthgauge.config import NetConfig, Recipe
from depthgauge.executors.local import workers_for
from depthgauge.studies.partition import LARGEST
from depthgauge.studies.plan import Grid
from depthgauge.studies.sizing import CLUSTER, FIXED, LEAST, Sizing, size_cohorts, soonest


def at_a_time(planned: Grid, sizing: Sizing, device: str = "cpu") -> int:
    """How many cohorts are trained side by side."""
    return workers_for(len(sizes(planned, sizing)), sizing.threads, device)


# The size that ends soonest


def parts_of(group: int, size: int) -> list[int]:
    return [len(part) for part in np.array_split(range(group), math.ceil(group / size))]


def ends_after(groups: Sequence[int], size: int, workers: int) -> float:
    """All workers at work, each with the next cohort as soon as it is free."""
    waiting = [runs + FIXED for group in groups for runs in parts_of(group, size)]
    now, left = 0.0, [0.0] * workers
    while waiting or any(left):
        for worker in range(workers):
            if not left[worker] and waiting:
                left[worker] = waiting.pop(0)
        step = min(rest for rest in left if rest)
        now += step
        left = [max(0.0, rest - step) for rest in left]
    return now


@given(
    groups=st.lists(st.integers(1, 60), min_size=1, max_size=6),
    workers=st.integers(1, 9),
    fitting=st.integers(1, 30),
)
def test_no_other_size_ends_sooner_and_of_equal_ones_the_largest_is_taken(groups, workers, fitting):
    possible = range(min(LEAST, fitting), min(LARGEST, fitting) + 1)
    ends = {size: ends_after(groups, size, workers) for size in possible}
    best = min(ends.values())
    assert soonest(groups, workers, fitting) == max(s for s in ends if ends[s] == best)


@pytest.mark.parametrize(
    ("cores", "seeds", "runs"),
    [
        (1, 3, [15, 15, 15]),
        (2, 3, [8, 7, 8, 7, 8, 7]),
        (3, 3, [15, 15, 15]),
        (4, 3, [15, 15, 15]),
        (6, 3, [8, 7, 8, 7, 8, 7]),
        (9, 3, [5] * 9),
        (2, 30, [15] * 30),
    ],
)
def test_cohorts_of_long_studies_are_shared_out_among_the_cores(cores, seeds, runs):
    planned = long_study(seeds=seeds)
    with machine(cores):
        sizing = size_cohorts(planned, "cpu", None)
        assert sizing.threads == 1
        assert at_a_time(planned, sizing) == min(cores, len(runs))
    assert sizes(planned, sizing) == runs


@settings(max_examples=30)
@given(cores=st.integers(1, 64), rules=st.integers(1, 5), seeds=st.integers(1, 9))
def test_no_core_is_asked_twice_and_a_started_study_is_sized_as_a_new_one(cores, rules, seeds):
    """A study that was started has its threads fixed."""
    labels = ("bp", "fa", "dfa", "dfa[no_norm]", "bp[no_norm]")[:rules]
    planned = long_study(labels, seeds)
    with machine(cores):
        sizing = size_cohorts(planned, "cpu", None)
        workers = at_a_time(planned, sizing)
        assert cores - workers < sizing.threads * workers <= cores
        assert size_cohorts(planned, "cpu", sizing.threads) == sizing


# Small studies, fixed threads, other devices


@pytest.mark.parametrize("cores", [1, 2, 8])
def test_a_small_study_stays_in_one_process_with_all_threads(cores):
    planned = grid("bp", "fa", "dfa", ks=range(5), seeds=(1, 2, 3), net=DEEP)
    with machine(cores):
        sizing = size_cohorts(planned, "cpu", None)
        assert sizing == Sizing(runs=15, threads=cores)
        assert at_a_time(planned, sizing) == 1
        assert size_cohorts(planned, "cpu", cores) == sizing


def test_epochs_samples_weights_and_runs_make_a_study_worth_processes():
    recipe = Recipe(epochs=10**4)
    small = replace(grid("bp", net=DEEP), recipe=recipe)
    with machine(2):
        assert size_cohorts(small, "cpu", None).threads == 2
        for larger in (
            replace(small, recipe=Recipe(epochs=10**6)),
            replace(small, task=make_task(samples=7200)),
            replace(small, net=NetConfig(width=64, blocks=4)),
            replace(small, seeds=range(200)),
        ):
            assert size_cohorts(larger, "cpu", None).threads == 1


@pytest.mark.parametrize(
    ("cores", "threads", "workers"), [(8, 1, 8), (8, 2, 4), (8, 3, 2), (8, 8, 1), (2, 5, 1)]
)
def test_threads_that_are_fixed_stay(cores, threads, workers):
    for planned in (long_study(), replace(long_study(), recipe=Recipe(epochs=1))):
        with machine(cores):
            sizing = size_cohorts(planned, "cpu", threads)
            assert at_a_time(planned, sizing) == min(workers, len(sizes(planned, sizing)))
        assert sizing == Sizing(soonest([15] * 3, workers, LARGEST), threads)


@pytest.mark.parametrize("threads", [None, 1, 3])
def test_on_a_gpu_one_cohort_is_trained_at_a_time(threads):
    planned = long_study(seeds=4)
    with machine(8):
        sizing = size_cohorts(planned, "cuda:0", threads)
        assert at_a_time(planned, sizing, "cuda:0") == 1
    assert sizing == Sizing(soonest([20] * 3, 1, LARGEST), threads or 8)
    assert sizes(planned, sizing) == [10] * 6


@pytest.mark.parametrize("cores", [1, 2, 64])
@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("threads", [None, 4])
def test_for_a_cluster_the_cores_here_do_not_count(cores, device, threads):
    """Nor whether starting processes here would be worth it."""
    for planned in (long_study(), replace(long_study(), recipe=Recipe(epochs=1))):
        with machine(cores):
            sizing = size_cohorts(planned, device, threads, cluster=True)
        assert sizing == Sizing(soonest([15] * 3, CLUSTER, LARGEST), threads or 1)
