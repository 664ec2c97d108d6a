"""What a study will cost, measured on a few steps of it."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from store.small_runs_on_disk import contents
from studies.small_grids import RECIPE, TASK, grid, plan, study_of
from training.small_runs import make_task

from depthgauge.config import Recipe
from depthgauge.rules.credit_bridge import CreditBridge
from depthgauge.studies import trial as module
from depthgauge.studies.expected import Expected, expect
from depthgauge.studies.partition import cohorts_left, partition
from depthgauge.studies.plan import Grid
from depthgauge.training.cohort import Cohort

READINGS = 10.0


class Clock:
    """One second for every step of training, ten for the readings of an epoch."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        step = Cohort.step

        def slow(*arguments: object) -> torch.Tensor:
            self.now += 1.0
            return step(*arguments)  # type: ignore[arg-type]

        def read(net: object, split: object) -> None:
            self.now += READINGS

        monkeypatch.setattr(Cohort, "step", slow)
        monkeypatch.setattr(module, "EVERY_EPOCH", (read,))
        monkeypatch.setattr(module.time, "perf_counter", lambda: self.now)


def recipe_of(planned: Grid, **changes: object) -> Grid:
    return replace(planned, recipe=Recipe(**RECIPE.model_dump() | changes))


def seconds_of(planned: Grid, **options: object) -> list[float]:
    return list(expect(partition(planned.runs()), planned.task, "cpu", **options).seconds.values())


def test_time_and_memory_are_there_for_every_cohort():
    cohorts = partition(grid("dfa", "bp").runs())
    expected = expect(cohorts, TASK, "cpu")
    assert list(expected.seconds) == [cohort.name for cohort in cohorts]
    assert all(0 < seconds < 60 for seconds in expected.seconds.values())
    assert 10_000_000 < expected.memory < 100_000_000_000


@pytest.mark.parametrize("epochs", [1, 3, 30])
def test_time_is_that_of_all_steps_and_readings(monkeypatch, epochs):
    Clock(monkeypatch)
    steps = 2
    assert seconds_of(recipe_of(grid("dfa"), epochs=epochs)) == [epochs * (steps + READINGS)]


def test_more_data_take_longer(monkeypatch):
    Clock(monkeypatch)
    large = replace(grid("dfa"), task=make_task(samples=720))
    assert seconds_of(large) == [RECIPE.epochs * (20 + READINGS)]


def test_an_epoch_of_a_single_batch_can_be_expected_too(monkeypatch):
    Clock(monkeypatch)
    (seconds,) = seconds_of(recipe_of(grid("dfa"), batch_size=1000))
    assert seconds >= RECIPE.epochs * (READINGS + 1)


def test_what_is_behind_a_cohort_is_not_expected_again(monkeypatch):
    Clock(monkeypatch)
    planned = grid("dfa", "bp")
    first, second = partition(planned.runs())
    behind = {first.name: 0.75, second.name: 0.0}
    whole = RECIPE.epochs * (2 + READINGS)
    assert seconds_of(planned, behind=lambda cohort: behind[cohort.name]) == [whole / 4, whole]


def test_one_cohort_of_each_kind_is_tried(monkeypatch):
    tried: list[int] = []
    make = Cohort.__init__

    def remember(cohort: Cohort, configs: list[object], *arguments: object) -> None:
        tried.append(len(configs))
        make(cohort, configs, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Cohort, "__init__", remember)
    assert len(seconds_of(grid("dfa", ks=(0, 1, 2), seeds=range(1, 16)))) == 3
    assert [runs for runs in tried if runs > 2] == [15]  # of one and two, memory is counted


def test_cohorts_side_by_side():
    expected = Expected({"a": 4.0, "b": 4.0, "c": 2.0}, 1)
    assert expected.wall_seconds(1) == 10
    assert expected.wall_seconds(2) == 6  # no cohort is divided
    assert expected.wall_seconds(4) == 4
    assert Expected({}, 0).wall_seconds(2) == 0


def test_nothing_is_written_and_random_states_stay_as_they_are(tmp_path: Path, monkeypatch):
    """Also with a rule that draws noise at every step."""
    monkeypatch.chdir(tmp_path)
    planned = grid("dfa", CreditBridge.name)
    study = study_of(planned, tmp_path / "study")
    plan(study, planned)
    before = contents(tmp_path)
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)
    states = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()
    assert len(expect(cohorts_left(study, planned), TASK, "cpu").seconds) == 2
    assert states == (
        random.getstate(),
        np.random.get_state()[1].tolist(),
        torch.get_rng_state().tolist(),
    )
    assert contents(tmp_path) == before


def test_of_a_study_that_is_done_nothing_is_expected():
    assert expect([], TASK, "cpu") == Expected({}, 0)
