"""Training cohorts: recorded whole, done once, stopped where asked, refused if changed."""

from __future__ import annotations

import json
import sys
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from scheduling.small_grids import (
    RECIPE,
    STEPS_PER_EPOCH,
    TASK,
    grid,
    outcome,
    plan,
    study_of,
    train_without_claims,
)
from store.small_runs_on_disk import contents

from depthgauge.auditing.trained_network import load_run
from depthgauge.errors import UserError
from depthgauge.rules.contract import Context, Credit
from depthgauge.rules.dfa import DFA
from depthgauge.scheduling import cohort_training
from depthgauge.scheduling.cohort_training import Conditions, train_runs
from depthgauge.scheduling.grid import Grid
from depthgauge.store.result_file import unpack_answers
from depthgauge.store.run_folder import RunFolder
from depthgauge.tasks.base import Split
from depthgauge.training.loop import StoppedEarlyError

STEPS = RECIPE.epochs * STEPS_PER_EPOCH


def small() -> Grid:
    return grid("dfa", ks=(0, 2), seeds=(1,))


def fail(*_: Any, **__: Any) -> None:
    pytest.fail("something was trained")


# Recorded whole


@pytest.mark.parametrize("engine", ["cohort", "plain"])
def test_each_run_keeps_which_samples_its_network_names_rightly(tmp_path, engine):
    planned = grid("bp", "dfa")
    study = study_of(planned, tmp_path)
    for cohort in plan(study, planned):
        conditions = Conditions("cpu", 0.0, "depthgauge test", engine=engine)
        train_runs(study, cohort, range(len(cohort.runs)), TASK, conditions)
    for run in planned.runs():
        folder = study.run(run.config)
        trained, result = load_run(folder, TASK), folder.result
        with torch.no_grad():
            named = trained.net(TASK.evaluation.x.float()).argmax(-1)
        right = unpack_answers(result["right"])
        assert right.tolist() == (named == TASK.evaluation.y).tolist()
        assert right.mean() == pytest.approx(result["final_acc"])


def test_everything_is_trained_and_recorded(tmp_path):
    planned = grid("bp", "dfa")
    study = study_of(planned, tmp_path)
    heard: list[tuple[int, int]] = []
    train_without_claims(study, planned, lambda epoch, steps: heard.append((epoch, steps)))
    one_cohort = [(step // STEPS_PER_EPOCH, step) for step in range(1, STEPS + 1)]
    assert heard == 2 * one_cohort
    for planned_run in planned.runs():
        folder = study.run(planned_run.config)
        lines = folder.metrics.lines()
        assert [line["epoch"] for line in lines] == list(range(RECIPE.epochs + 1))
        result = folder.result
        assert result is not None
        assert result["final"] == lines[-1]
        assert result["final_acc"] == lines[-1]["accuracy"]
        assert sorted(path.name for path in folder.path.iterdir()) == [
            "checkpoint.safetensors",
            "config.json",
            "metrics.jsonl",
            "result.json",
        ]


def test_every_result_says_where_it_comes_from(tmp_path):
    planned = small()
    study = study_of(planned, tmp_path / "my study")
    (cohort,) = plan(study, planned)
    train_without_claims(study, planned)
    for folder in study.all_runs():
        assert folder.result is not None
        provenance = folder.result["provenance"]
        assert provenance["cohort"] == [config.identity for config in cohort.configs]
        assert provenance["study"] == "my study"
        assert provenance["device"] == "cpu"
        assert provenance["command"] == "depthgauge test"
        assert provenance["resumed_from"] is None
        assert provenance["wall_seconds"] > 0
        assert provenance["cpu_seconds"] > 0
        assert provenance["peak_memory_bytes"] > 0
        assert {"version", "commit", "dirty", "torch", "libraries", "threads"} <= provenance.keys()


def test_results_appear_after_everything_else(tmp_path, monkeypatch):
    finish = RunFolder.finish
    finished = []

    def checked(folder: RunFolder, *given: Any) -> None:
        for own in study.all_runs():
            assert own.metrics.epochs_without_gap() == RECIPE.epochs + 1
            assert (RECIPE.epochs, 0) in own.saved()
            assert (own.result is not None) == (own.path in finished)
        finish(folder, *given)
        finished.append(folder.path)

    monkeypatch.setattr(RunFolder, "finish", checked)
    planned = small()
    study = study_of(planned, tmp_path)
    train_without_claims(study, planned)
    assert len(finished) == 2


def test_the_configuration_is_written_before_training(tmp_path, monkeypatch):
    planned, looked = small(), []
    study = study_of(planned, tmp_path)
    original = cohort_training.train_cohort

    def look(*arguments: Any, **options: Any) -> None:
        for run in planned.runs():
            path: Path = study.run(run.config).path / "config.json"
            looked.append(json.loads(path.read_text()) == run.config.model_dump(mode="json"))
        original(*arguments, **options)

    monkeypatch.setattr(cohort_training, "train_cohort", look)
    train_without_claims(study, planned)
    assert looked == [True, True]


def test_a_diverged_run_is_finished_and_said_to_have_diverged(tmp_path):
    class Exploding(DFA):
        name = "exploding"

        def credit(self, context: Context) -> Credit:
            state = context.states[0]
            return Credit([state * float("nan")] * (len(context.states) - 1), state)

    planned = grid(Exploding, ks=(0, 2), seeds=(1,))
    study = study_of(planned, tmp_path)
    train_without_claims(study, planned)
    by_k = {folder.config.k: folder.result or {} for folder in study.all_runs()}
    assert by_k[0]["status"] == "finished"
    assert by_k[2]["status"] == "diverged"
    assert by_k[2]["diverged_epoch"] == 1
    assert by_k[2]["final"]["h_norm"][-1] is None


# Done once


def test_the_same_study_again_trains_nothing_and_writes_nothing(tmp_path, monkeypatch):
    planned = small()
    study = study_of(planned, tmp_path)
    train_without_claims(study, planned)
    before = contents(tmp_path)
    monkeypatch.setattr(cohort_training, "train_cohort", fail)
    train_without_claims(study, planned)
    assert contents(tmp_path) == before


def test_a_larger_grid_trains_what_is_new_and_leaves_the_rest_alone(tmp_path):
    planned = small()
    study = study_of(planned, tmp_path)
    train_without_claims(study, planned)
    before = contents(tmp_path)
    larger = grid("dfa", "bp", ks=(0, 1, 2), seeds=(1, 2, 3))
    assert [len(cohort.runs) for cohort in plan(study, larger)] == [7, 9]
    train_without_claims(study, larger)
    after = contents(tmp_path)
    assert {name: after[name] for name in before} == before
    assert sum(name.endswith("result.json") for name in after) == 18


def test_some_runs_of_a_cohort_can_be_trained_without_the_others(tmp_path):
    planned = small()
    study = study_of(planned, tmp_path)
    (cohort,) = plan(study, planned)
    train_runs(study, cohort, [1], TASK, Conditions("cpu", 0.0, "depthgauge test"))
    assert study.open_runs(cohort) == [0]
    assert [folder.config for folder in study.all_runs()] == [cohort.configs[1]]


# Stopped


def test_stopped_inside_an_epoch_it_is_saved_there_and_goes_on_from_there(tmp_path):
    planned = small()
    whole, stopped = study_of(planned, tmp_path / "a"), study_of(planned, tmp_path / "b")
    train_without_claims(whole, planned)
    (cohort,) = plan(stopped, planned)
    asked = iter([False, False, True])
    conditions = Conditions("cpu", 1e9, "depthgauge test", stop=lambda: next(asked))
    with pytest.raises(StoppedEarlyError):
        train_runs(stopped, cohort, [0, 1], TASK, conditions)
    assert [set(folder.saved()) for folder in stopped.all_runs()] == [{(1, 1)}] * 2
    assert stopped.open_runs(cohort) == [0, 1]
    train_without_claims(stopped, planned)
    assert outcome(stopped.path) == outcome(whole.path)


# Refused


def test_data_that_changed_after_planning_are_refused(tmp_path):
    planned = small()
    study = study_of(planned, tmp_path)
    (cohort,) = plan(study, planned)
    other = replace(TASK, train=Split(TASK.train.x + 1, TASK.train.y))
    with pytest.raises(UserError, match="data of the task tiny changed after the study was"):
        train_runs(study, cohort, [0, 1], other, Conditions("cpu", 0.0, "depthgauge test"))
    assert list(study.all_runs()) == []


def test_a_rule_whose_options_are_others_now_is_refused(tmp_path):
    planned = small()
    study = study_of(planned, tmp_path)
    (cohort,) = plan(study, planned)
    config = cohort.rules[0].config.model_copy(update={"options": {"beta": 10.0}})
    rules = (cohort.rules[0].model_copy(update={"config": config}), *cohort.rules[1:])
    older = cohort.model_copy(update={"rules": rules})
    with pytest.raises(UserError, match="changed after planning"):
        train_runs(study, older, [0, 1], TASK, Conditions("cpu", 0.0, "depthgauge test"))
    assert list(study.all_runs()) == []


# Memory


@pytest.mark.skipif(sys.version_info < (3, 11), reason="who calls holds what it gives away")
def test_states_that_are_restored_are_not_held_while_training_goes_on(tmp_path, monkeypatch):
    planned = small()
    study = study_of(planned, tmp_path)

    def stop(epoch: int, steps: int) -> None:
        if steps == STEPS - 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_without_claims(study, planned, stop)
    loaded: list[weakref.ref[Any]] = []
    load = cohort_training.load_newest

    def remember(folders: list[RunFolder]) -> Any:
        states = load(folders)
        loaded.extend(weakref.ref(state) for state in states or ())
        return states

    monkeypatch.setattr(cohort_training, "load_newest", remember)
    held: list[bool] = []
    train_without_claims(
        study, planned, lambda *_: held.append(any(state() is not None for state in loaded))
    )
    assert len(loaded) == 2
    assert held
    assert not any(held)
