"""Killed at any place where something is written, a study ends as if it had not been."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from scheduling.small_grids import (
    RECIPE,
    STEPS_PER_EPOCH,
    grid,
    outcome,
    plan,
    study_of,
    train_without_claims,
)
from store.small_runs_on_disk import contents

from depthgauge.scheduling import cohort_training
from depthgauge.scheduling.grid import Grid
from depthgauge.store.metrics_file import MetricsFile
from depthgauge.store.run_folder import RunFolder, newest_common_position
from depthgauge.store.study_folder import StudyFolder

STEPS = RECIPE.epochs * STEPS_PER_EPOCH
OWNERS: dict[str, type] = {"append": MetricsFile}


class Killed(BaseException):
    """Stands for a kill: like one, nothing in the package catches it."""


def small() -> Grid:
    return grid("dfa", ks=(0, 2), seeds=(1,))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What `small()` comes to."""
    planned = small()
    study = study_of(planned, tmp_path_factory.mktemp("undisturbed"))
    train_without_claims(study, planned)
    assert len(outcome(study.path)) == 2
    return outcome(study.path)


def interruptions() -> Iterator[tuple[str, int]]:
    """Two runs, three epochs of two steps: the n-th call of each method, one after the other."""
    calls = {"append": 8, "save": 2 * STEPS, "finish": 2, "create": 2, "rewind": 2}
    return ((method, number) for method, count in calls.items() for number in range(count))


def interrupt(
    monkeypatch: pytest.MonkeyPatch, method: str, number: int, *, after: bool = False
) -> None:
    """Kill at the `number`-th call of `method`: before it does anything, or after."""
    owner = OWNERS.get(method, RunFolder)
    original = getattr(owner, method)
    count = iter(range(10**6))

    def call(folder: Any, *arguments: Any) -> Any:
        fatal = next(count) == number
        if fatal and not after:
            raise Killed
        original(folder, *arguments)
        if fatal:
            raise Killed

    monkeypatch.setattr(owner, method, call)


def train_killed(study: StudyFolder, planned: Grid, method: str, number: int, **how: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        interrupt(patch, method, number, **how)
        with pytest.raises(Killed):
            train_without_claims(study, planned)


@pytest.mark.parametrize(("method", "number"), list(interruptions()))
def test_killed_anywhere_a_study_ends_as_if_it_had_not_been(tmp_path, undisturbed, method, number):
    planned = small()
    study = study_of(planned, tmp_path)
    train_killed(study, planned, method, number)
    done = {name: file for name, file in contents(tmp_path).items() if name.endswith("result.json")}
    assert len(done) == (number if method == "finish" else 0)
    train_without_claims(study, planned)
    assert outcome(tmp_path) == undisturbed
    after = contents(tmp_path)
    assert {name: after[name] for name in done} == done


@pytest.mark.parametrize("kills", [(2, 0), (3, 0, 0), (2, 0, 1, 0)])
def test_killed_again_and_again(tmp_path, undisturbed, kills):
    planned = small()
    study = study_of(planned, tmp_path)
    for number in kills:
        train_killed(study, planned, "save", number, after=True)
    train_without_claims(study, planned)
    assert outcome(tmp_path) == undisturbed


def test_a_killed_study_goes_on_from_the_newest_position_that_all_runs_have(tmp_path):
    planned = small()
    study = study_of(planned, tmp_path)
    train_killed(study, planned, "save", 9)  # the second run's state after four steps is there
    steps: list[int] = []
    train_without_claims(study, planned, lambda _, done: steps.append(done))
    assert steps == [5, 6]
    for folder in study.all_runs():
        assert (folder.result or {})["provenance"]["resumed_from"] == [2, 0]


def test_killed_between_two_results_nothing_is_trained_again(tmp_path, undisturbed):
    planned = small()
    study = study_of(planned, tmp_path)
    train_killed(study, planned, "finish", 1)
    train_without_claims(study, planned, lambda *_: pytest.fail("something was trained"))
    assert outcome(tmp_path) == undisturbed


def test_corrupt_newest_checkpoints_cost_one_save(tmp_path, undisturbed):
    planned = small()
    study = study_of(planned, tmp_path)
    train_killed(study, planned, "save", 8)
    for folder in study.all_runs():
        folder.checkpoint_path.write_bytes(folder.checkpoint_path.read_bytes()[:-9])
    assert newest_common_position(list(study.all_runs())) == (1, 1)
    train_without_claims(study, planned)
    assert outcome(tmp_path) == undisturbed


def test_where_the_metrics_were_removed_training_begins_anew(tmp_path, undisturbed):
    planned = small()
    study = study_of(planned, tmp_path)
    train_killed(study, planned, "finish", 0)
    for folder in study.all_runs():
        folder.metrics_path.unlink()
    steps: list[int] = []
    train_without_claims(study, planned, lambda _, done: steps.append(done))
    assert steps == list(range(1, STEPS + 1))
    assert outcome(tmp_path) == undisturbed


def test_a_seed_added_to_an_interrupted_study_does_not_set_the_others_back(tmp_path):
    study = study_of(small(), tmp_path)
    train_killed(study, small(), "save", 8)  # both runs' states after four steps are there
    wider = grid("dfa", ks=(0, 2), seeds=(1, 2))
    old, new = plan(study, wider)
    assert [{config.seed for config in cohort.configs} for cohort in (old, new)] == [{1}, {2}]
    train_without_claims(study, wider)
    resumed = {
        folder.config.seed: (folder.result or {})["provenance"]["resumed_from"]
        for folder in study.all_runs()
    }
    assert resumed == {1: [2, 0], 2: None}


def test_killed_before_anything_is_trained_the_plan_stays(tmp_path, monkeypatch):
    def die(*_: Any, **__: Any) -> None:
        raise Killed

    planned = small()
    study = study_of(planned, tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(cohort_training, "train_cohort", die)
        with pytest.raises(Killed):
            train_without_claims(study, planned)
    cohorts = StudyFolder(tmp_path).plan_files.read().current
    assert plan(StudyFolder(tmp_path), planned) == cohorts
