"""What was measured is kept, and measured again only where something is different."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from studies.small_grids import TASK, grid
from training.small_runs import make_task

from depthgauge.config import NetConfig, Recipe, RunConfig
from depthgauge.studies import measured as module
from depthgauge.studies.footprint import Footprint, Held
from depthgauge.studies.measured import Bench
from depthgauge.studies.pace import Pace
from depthgauge.studies.plan import Grid

BENCH = Bench(TASK, "cpu")


class Counting:
    """Stands in for what is measured, and counts how often."""

    def __init__(self) -> None:
        self.footprints, self.threads = 0, list[int]()

    def footprint(self, *_: object) -> Footprint:
        self.footprints += 1
        return Footprint((Held(1.0, 2.0, 3.0, float(self.footprints)),), compiler=True)

    def paces(self, runs: object, task: object, device: str, engine: str, threads: list[int]):
        self.threads += threads
        return {number: Pace(0.5, float(number)) for number in threads}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(module, "measured_dir", lambda: tmp_path / "measured")
    return tmp_path / "measured"


@pytest.fixture
def counting(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Counting:
    counting = Counting()
    monkeypatch.setattr(module, "count_footprint", counting.footprint)
    monkeypatch.setattr(module, "measure_paces", counting.paces)
    return counting


def footprint(planned: Grid, bench: Bench = BENCH) -> Footprint:
    run = planned.runs()[0]
    return bench.footprint(run.config, run.choice.build())


def test_beside_fetched_data(measured_dir, tmp_path, monkeypatch):
    monkeypatch.setenv("DEPTHGAUGE_DATA", str(tmp_path))
    assert measured_dir() == tmp_path / "measured"


def test_measured_once_and_the_same_ever_after(counting):
    planned = grid("dfa")
    first = footprint(planned), BENCH.paces(planned.runs(), [1, 2])
    again = footprint(planned), BENCH.paces(planned.runs(), [2, 1])
    assert first == again
    assert (counting.footprints, counting.threads) == (1, [1, 2])


def test_what_has_to_be_measured_is_announced_and_what_is_known_is_not(counting):
    told: list[RunConfig] = []
    planned, bench = grid("dfa"), Bench(TASK, "cpu", announce=told.append)
    footprint(planned, bench)
    bench.paces(planned.runs(), [1])
    assert [run.rule.name for run in told] == ["dfa", "dfa"]
    footprint(planned, bench)
    bench.paces(planned.runs(), [1])
    assert len(told) == 2


def test_only_threads_that_are_missing_are_measured(counting):
    runs = grid("dfa").runs()
    BENCH.paces(runs, [1])
    assert BENCH.paces(runs, [1, 4]) == {1: Pace(0.5, 1.0), 4: Pace(0.5, 4.0)}
    assert counting.threads == [1, 4]


def test_whatever_decides_the_cost_is_measured_for_itself(counting):
    planned = grid("dfa")
    others = [
        grid("bp"),
        grid("dfa[normalise=batch]"),
        grid("dfa", net=NetConfig(width=8, blocks=2)),
        replace(planned, recipe=Recipe(epochs=3, batch_size=12)),
        replace(planned, recipe=Recipe(epochs=3, batch_size=36, dtype="float64")),
    ]
    for one in (planned, *others):
        footprint(one)
    footprint(planned, replace(BENCH, engine="plain"))
    footprint(planned, replace(BENCH, task=make_task(samples=90)))
    assert counting.footprints == 8
    footprint(replace(planned, recipe=Recipe(epochs=9, batch_size=36)))
    assert counting.footprints == 8


@pytest.mark.parametrize("damage", ["", "{", "[]", "{}", '{"phases": []}', '{"1": [1]}', "null"])
def test_what_is_damaged_is_measured_again(counting, folder, damage):
    planned = grid("dfa")
    footprint(planned)
    BENCH.paces(planned.runs(), [1])
    for path in folder.iterdir():
        path.write_text(damage)
    assert footprint(planned).phases[0].block == 2.0
    assert BENCH.paces(planned.runs(), [1]) == {1: Pace(0.5, 1.0)}
    assert (counting.footprints, counting.threads) == (2, [1, 1])
    assert footprint(planned).phases[0].block == 2.0


def test_where_nothing_can_be_written_it_works_all_the_same(counting, folder):
    folder.write_text("a file is in the way")
    planned = grid("dfa")
    assert [footprint(planned).phases[0].block for _ in range(2)] == [1.0, 1.0]
    assert [BENCH.paces(planned.runs(), [1]) for _ in range(2)] == [{1: Pace(0.5, 1.0)}] * 2
    assert (counting.footprints, counting.threads) == (1, [1])


def test_the_real_ones(folder):
    """Counted and timed here, and read again as they were written."""
    planned = grid("dfa")
    for _ in range(2):
        assert footprint(planned).bytes_of(1, [2]) > 0
        paces = BENCH.paces(planned.runs(), [1])
        assert paces[1].step(3) > 0
    assert paces == BENCH.paces(planned.runs(), [1])
    assert len(list(folder.iterdir())) == 2
