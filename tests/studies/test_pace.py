"""How long steps take: a line through two sizes."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from studies.small_grids import TASK, grid

from depthgauge.studies import pace as module
from depthgauge.studies.pace import Pace, fitted, measure_paces, spread_out


@given(st.floats(0, 10), st.floats(0, 10), st.integers(1, 5), st.integers(6, 20))
def test_a_line_is_found_again(fixed, run, few, many):
    pace = Pace(fixed, run)
    found = fitted({few: pace.step(few), many: pace.step(many)})
    assert found.step(13) == pytest.approx(pace.step(13), abs=1e-9)


@given(st.floats(0.001, 10), st.floats(0.001, 10))
def test_whatever_was_measured_more_runs_never_take_less_than_nothing(few, many):
    found = fitted({2: few, 6: many})
    assert found.fixed >= -1e-12
    assert found.run >= 0
    assert found.step(6) == pytest.approx(many)


def test_a_single_size_is_shared_out():
    assert fitted({3: 6.0}) == Pace(0.0, 2.0)


def test_runs_are_taken_from_the_whole_range_of_k():
    runs = grid(ks=range(3), seeds=(1, 2, 3)).runs()
    assert [run.k for run in spread_out(runs, 2)] == [2, 0]
    assert spread_out(runs, 9) == sorted(runs, key=lambda run: -run.k)
    assert [run.k for run in spread_out(runs[:1], 1)] == [2]


@pytest.mark.parametrize("runs", [1, 2, 6, 20])
def test_measured_for_each_number_of_threads_which_are_then_as_before(monkeypatch, runs):
    """A step of n runs takes 3 + 2·n seconds divided by the threads, on this clock."""
    now, tried, before = [0.0], set(), torch.get_num_threads()

    class Tried:
        def __init__(self, configs: list[object], *_: object) -> None:
            self.runs = len(configs)
            tried.add(self.runs)

        def step(self) -> float:
            seconds = (3 + 2 * self.runs) / torch.get_num_threads()
            now[0] += seconds
            return seconds

    monkeypatch.setattr(module, "Trial", Tried)
    monkeypatch.setattr(module.time, "perf_counter", lambda: now[0])
    planned = grid(ks=(2,), seeds=range(runs)).runs()
    found = measure_paces(planned, TASK, "cpu", "cohort", [1, 2])
    assert torch.get_num_threads() == before
    assert max(tried) == min(6, runs)
    assert found[1].step(min(6, runs)) == pytest.approx(3 + 2 * min(6, runs))
    assert found[2].run == pytest.approx(found[1].run / 2)
