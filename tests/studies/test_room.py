"""Cohorts are split until they fit into memory, in each of the processes side by side."""

from __future__ import annotations

import pytest
from studies.other_machines import OWN, costing, long_study, machine, sized, sizes
from studies.small_grids import grid

from depthgauge.errors import UserError
from depthgauge.studies.footprint import KERNELS, SCATTERED, Footprint, Held
from depthgauge.studies.measured import Bench
from depthgauge.studies.pace import Pace
from depthgauge.studies.room import SPARED, bytes_of, runs_that_fit
from depthgauge.studies.sizing import size_cohorts

RUN = 10**8


def memory_for(runs: float, workers: int = 1) -> float:
    """What must be free for cohorts of so many runs side by side."""
    alone = OWN if workers > 1 else 0
    return workers * (alone + KERNELS + SCATTERED * (runs + 0.5) * RUN) / SPARED


@pytest.mark.parametrize(("fitting", "runs"), [(15, 15), (14, 8), (7, 5), (2, 2), (1, 1)])
@pytest.mark.parametrize("size", [None, 100])
def test_with_little_memory_cohorts_are_split(fitting, runs, size):
    """However many were asked for."""
    planned = long_study(("dfa",))
    with machine(memory=memory_for(fitting)), costing(Pace(2.0, 1.0), RUN):
        sizing = sized(planned, "cpu", None, size)
    assert max(sizes(planned, sizing)) == runs
    assert sum(sizes(planned, sizing)) == 15
    assert sizing.memory == pytest.approx(OWN + KERNELS + SCATTERED * runs * RUN)


def test_several_processes_need_the_memory_several_times():
    planned = long_study()
    with machine(3, memory_for(4, workers=3)), costing(Pace(0.1, 1.0), RUN):
        assert (sized(planned).runs, sized(planned).workers) == (4, 3)
        assert sized(planned, "cpu", 3).runs == 15


def test_where_not_even_one_run_fits_beside_others_there_are_fewer_processes():
    with machine(4, memory_for(1)), costing(Pace(2.0, 1.0), RUN):
        found = sized(long_study())
        assert (found.threads, found.workers, found.runs) == (4, 1, 1)
        with pytest.raises(UserError, match=r"needs 0\.14 GB .* with --threads 4 from the start"):
            sized(long_study(), "cpu", 1)


@pytest.mark.parametrize("memory", [0.0, 1.0, memory_for(0)])
def test_where_no_run_fits_at_all_that_is_said(memory):
    with (
        machine(4, memory),
        costing(Pace(2.0, 1.0), RUN),
        pytest.raises(UserError, match=r"a single run of \w+ needs .* --width or --batch-size"),
    ):
        sized(long_study())


def test_for_a_cluster_at_least_one_run_is_planned():
    planned = long_study()
    with machine(4, 1.0), costing(Pace(2.0, 1.0), RUN):
        assert sizes(planned, sized(planned, cluster=True)) == [1] * 45


def test_the_most_runs_that_fit_are_counted_with_those_that_train_most():
    runs = grid(ks=(0, 1, 2), seeds=(1, 2)).runs()
    footprint = Footprint((Held(100, 10, 1, 5),))
    needed = [bytes_of(sorted(runs, key=lambda run: -run.k)[:n], footprint) for n in range(1, 7)]
    for count, room in enumerate(needed, 1):
        assert runs_that_fit(runs, footprint, room) == count
        assert runs_that_fit(runs, footprint, room - 1) == count - 1
    assert runs_that_fit(runs, footprint, 1e12) == 6


def test_cohorts_that_were_planned_before_need_room_as_well():
    one = long_study(("dfa",)).runs()[:1]
    with machine(2, memory_for(1, workers=2)), costing(Pace(2.0, 1.0), RUN):
        bench = Bench(long_study().task, "cpu")
        assert size_cohorts(one, bench, 1).runs == 1
        assert size_cohorts(one, bench, 1, beside=3).runs == 1
    with machine(2, memory_for(1)), costing(Pace(2.0, 1.0), RUN):
        assert size_cohorts(one, bench, 1).runs == 1
        with pytest.raises(UserError, match="from the start there is one process, not 2"):
            size_cohorts(one, bench, 1, beside=3)
