"""Training a study: what is done stays done, what fails is reported, what was killed goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from store.small_runs_on_disk import checkpoint_bits, contents
from studies.small_grids import RECIPE, STEPS_PER_EPOCH, Broken, grid, study_of, train

from depthgauge.errors import UserError
from depthgauge.rules.contract import Context, Credit
from depthgauge.store.run_folder import RunFolder
from depthgauge.store.study_folder import StudyFolder
from depthgauge.studies import runner
from depthgauge.studies.runner import epochs_behind, left_to_do


class Killed(BaseException):
    """Stands for a kill: like one, nothing in the package catches it."""


def outcome(study: StudyFolder) -> dict[str, Any]:
    """Everything about the runs that must not depend on interruptions."""
    found = {}
    for folder in study.all_runs():
        result = dict(folder.result or {})
        result.pop("provenance", None)
        checkpoint = checkpoint_bits(folder.checkpoint_path)
        found[folder.path.name] = (result, folder.metrics_path.read_text(), checkpoint)
    return found


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What `small()` comes to."""
    planned = small()
    study = study_of(planned, tmp_path_factory.mktemp("undisturbed"))
    assert train(study, planned) == []
    return outcome(study)


def small() -> Any:
    return grid("dfa", ks=(0, 2), seeds=(1,))


# Done is done


def test_everything_is_trained_and_recorded(tmp_path):
    planned = grid("bp", "dfa")
    study = study_of(planned, tmp_path)
    heard: list[tuple[str, int]] = []
    assert train(study, planned, lambda label, steps: heard.append((label, steps))) == []
    assert left_to_do(study, planned.cohorts()) == []
    steps = RECIPE.epochs * STEPS_PER_EPOCH
    assert heard == [("bp", 6)] * steps + [("dfa", 6)] * steps
    for planned_run in planned.runs():
        folder = study.run(planned_run.config)
        assert [line["epoch"] for line in folder.metrics()] == list(range(RECIPE.epochs + 1))
        result = folder.result
        assert result is not None
        assert result["final"] == folder.metrics()[-1]
        assert result["final_acc"] == folder.metrics()[-1]["accuracy"]
        assert sorted(path.name for path in folder.path.iterdir()) == [
            "checkpoint.safetensors",
            "config.json",
            "metrics.jsonl",
            "result.json",
        ]


def test_every_result_says_where_it_comes_from(tmp_path):
    planned = small()
    study = study_of(planned, tmp_path)
    train(study, planned)
    identities = [run.config.identity for run in planned.cohorts()[0]]
    for folder in study.all_runs():
        assert folder.result is not None
        provenance = folder.result["provenance"]
        assert provenance["cohort"] == identities
        assert provenance["device"] == "cpu"
        assert provenance["resumed_from_epoch"] is None
        assert provenance["wall_seconds"] > 0
        assert provenance["peak_memory_bytes"] > 0
        assert {"version", "commit", "torch", "command", "threads"} <= provenance.keys()


def test_the_same_study_again_trains_nothing_and_writes_nothing(tmp_path):
    planned = small()
    study = study_of(planned, tmp_path)
    train(study, planned)
    before = contents(tmp_path)
    train(study, planned, lambda *_: pytest.fail("something was trained"))
    assert contents(tmp_path) == before


def test_a_larger_grid_trains_what_is_new_and_leaves_the_rest_alone(tmp_path):
    planned = small()
    study = study_of(planned, tmp_path)
    train(study, planned)
    before = contents(tmp_path)
    larger = grid("dfa", "bp", ks=(0, 1, 2), seeds=(1, 2, 3))
    left = left_to_do(study, larger.cohorts())
    assert [len(cohort) for cohort in left] == [7, 9]
    assert train(study, larger) == []
    after = contents(tmp_path)
    assert {name: after[name] for name in before} == before
    assert sum(name.endswith("result.json") for name in after) == 18


def test_results_appear_after_everything_else(tmp_path, monkeypatch):
    finish = RunFolder.finish
    finished = []

    def checked(folder: RunFolder, provenance: dict[str, Any]) -> None:
        for own in study.all_runs():
            assert [line["epoch"] for line in own.metrics()] == list(range(RECIPE.epochs + 1))
            assert RECIPE.epochs in own.saved()
            assert (own.result is not None) == (own.path in finished)
        finish(folder, provenance)
        finished.append(folder.path)

    monkeypatch.setattr(RunFolder, "finish", checked)
    planned = small()
    study = study_of(planned, tmp_path)
    assert train(study, planned) == []
    assert len(finished) == 2


# Failures


def test_a_rule_that_fails_is_reported_and_the_others_finish(tmp_path):
    planned = grid("bp", Broken, "dfa", ks=(0, 2))
    study = study_of(planned, tmp_path)
    (failure,) = train(study, planned)
    assert failure.label == "broken"
    assert failure.runs == 4
    assert failure.reason == "ZeroDivisionError: the author divided by zero"
    done = [folder.config.rule.label for folder in study.all_runs() if folder.result]
    assert sorted(done) == ["bp"] * 4 + ["dfa"] * 4


def test_a_failed_rule_is_tried_again_by_the_next_command(tmp_path, monkeypatch):
    planned = grid(Broken, ks=(0, 2))
    study = study_of(planned, tmp_path)
    assert len(train(study, planned)) == 1

    def credit(self: Broken, context: Context) -> Credit:
        return Credit(blocks=context.states[1:], embed=context.states[0])

    monkeypatch.setattr(Broken, "credit", credit)
    assert train(study, planned) == []
    assert all(folder.result for folder in study.all_runs())


def test_a_result_that_cannot_be_read_stops_the_study_before_anything_is_trained(tmp_path):
    planned = small()
    study = study_of(planned, tmp_path)
    train(study, planned)
    first, second = study.all_runs()[:2]
    first.result_path.write_text("{")
    second.result_path.unlink()
    before = contents(tmp_path)
    with pytest.raises(UserError, match="nothing was changed"):
        train(study, planned)
    assert contents(tmp_path) == before


def test_a_diverged_run_is_finished_and_said_to_have_diverged(tmp_path):
    class Exploding(Broken):
        name = "exploding"

        def credit(self, context: Context) -> Credit:
            state = context.states[0]
            return Credit([state * float("nan")] * (len(context.states) - 1), state)

    planned = grid(Exploding, ks=(0, 2), seeds=(1,))
    study = study_of(planned, tmp_path)
    assert train(study, planned) == []
    by_k = {folder.config.k: folder.result for folder in study.all_runs()}
    assert by_k[0]["status"] == "finished"
    assert by_k[2]["status"] == "diverged"
    assert by_k[2]["diverged_epoch"] == 1
    assert by_k[2]["final"]["h_norm"][-1] is None


# Interruptions, at every single place where something is written


def interruptions() -> Iterator[tuple[str, int]]:
    """Two runs, three epochs: the n-th call of each method, one after the other."""
    calls = {"append_metrics": 8, "save": 6, "finish": 2, "create": 2}
    return ((method, number) for method, count in calls.items() for number in range(count))


def interrupt(
    monkeypatch: pytest.MonkeyPatch, method: str, number: int, *, after: bool = False
) -> None:
    """Kill at the `number`-th call of `method`: before it does anything, or after."""
    original = getattr(RunFolder, method)
    count = iter(range(10**6))

    def call(folder: RunFolder, *arguments: Any) -> Any:
        fatal = next(count) == number
        if fatal and not after:
            raise Killed
        original(folder, *arguments)
        if fatal:
            raise Killed

    monkeypatch.setattr(RunFolder, method, call)


@pytest.mark.parametrize(("method", "number"), list(interruptions()))
def test_killed_anywhere_a_study_ends_as_if_it_had_not_been(
    tmp_path, monkeypatch, undisturbed, method, number
):
    planned = small()
    study = study_of(planned, tmp_path)
    with monkeypatch.context() as patch:
        interrupt(patch, method, number)
        with pytest.raises(Killed):
            train(study, planned)
    done = {name: file for name, file in contents(tmp_path).items() if name.endswith("result.json")}
    assert len(done) == (number if method == "finish" else 0)
    assert train(study, planned) == []
    assert outcome(study) == undisturbed
    after = contents(tmp_path)
    assert {name: after[name] for name in done} == done


@pytest.mark.parametrize("kills", [(2, 0), (3, 0, 0), (2, 0, 1, 0)])
def test_killed_again_and_again(tmp_path, monkeypatch, undisturbed, kills):
    planned = small()
    study = study_of(planned, tmp_path)
    for number in kills:
        with monkeypatch.context() as patch:
            interrupt(patch, "save", number, after=True)
            with pytest.raises(Killed):
                train(study, planned)
    assert train(study, planned) == []
    assert outcome(study) == undisturbed


def test_a_killed_study_goes_on_from_the_newest_common_epoch(tmp_path, monkeypatch):
    planned = small()
    study = study_of(planned, tmp_path)
    (cohort,) = planned.cohorts()
    assert epochs_behind(study, cohort) == 0
    with monkeypatch.context() as patch:
        interrupt(patch, "save", 5)  # the second run's state of epoch 3
        with pytest.raises(Killed):
            train(study, planned)
    assert epochs_behind(study, cohort) == 2
    steps: list[int] = []
    train(study, planned, lambda _, amount: steps.append(amount))
    assert steps == [2] * STEPS_PER_EPOCH
    for folder in study.all_runs():
        assert folder.result is not None
        assert folder.result["provenance"]["resumed_from_epoch"] == 2


def test_killed_between_two_results_nothing_is_trained_again(tmp_path, monkeypatch, undisturbed):
    planned = small()
    study = study_of(planned, tmp_path)
    with monkeypatch.context() as patch:
        interrupt(patch, "finish", 1)
        with pytest.raises(Killed):
            train(study, planned)
    train(study, planned, lambda *_: pytest.fail("something was trained"))
    assert outcome(study) == undisturbed


def test_corrupt_newest_checkpoints_cost_one_epoch(tmp_path, monkeypatch, undisturbed):
    planned = small()
    study = study_of(planned, tmp_path)
    with monkeypatch.context() as patch:
        interrupt(patch, "save", 4)
        with pytest.raises(Killed):
            train(study, planned)
    for folder in study.all_runs():
        folder.checkpoint_path.write_bytes(folder.checkpoint_path.read_bytes()[:-9])
    assert epochs_behind(study, planned.cohorts()[0]) == 1
    assert train(study, planned) == []
    assert outcome(study) == undisturbed


def test_metrics_that_were_removed_are_missed_in_clear_words(tmp_path):
    planned = grid("bp", ks=(0,), seeds=(1,))
    study = study_of(planned, tmp_path)
    train(study, planned)
    (folder,) = study.all_runs()
    folder.result_path.unlink()
    folder.metrics_path.unlink()
    (failure,) = train(study, planned)
    assert "metrics.jsonl" in failure.reason


def test_the_configuration_is_written_before_training(tmp_path, monkeypatch):
    planned = small()
    study = study_of(planned, tmp_path)

    def look(*_: Any, **__: Any) -> None:
        for run in planned.runs():
            path: Path = study.run(run.config).path / "config.json"
            assert json.loads(path.read_text()) == run.config.model_dump(mode="json")
        raise Killed

    monkeypatch.setattr(runner, "train_cohort", look)
    with pytest.raises(Killed):
        train(study, planned)


def test_a_seed_added_to_an_interrupted_study_does_not_set_the_others_back(tmp_path, monkeypatch):
    first = grid("dfa", ks=(0, 1), seeds=(1,))
    study = study_of(first, tmp_path)
    with monkeypatch.context() as patch:
        interrupt(patch, "save", 4)  # both runs' states of epochs 1 and 2 are there
        with pytest.raises(Killed):
            train(study, first)
    wider = grid("dfa", ks=(0, 1), seeds=(1, 2))
    assert [epochs_behind(study, part) for part in left_to_do(study, wider.cohorts())] == [2, 0]
    assert train(study, wider) == []
    resumed = {
        folder.config.seed: (folder.result or {})["provenance"]["resumed_from_epoch"]
        for folder in study.all_runs()
    }
    assert resumed == {1: 2, 2: None}
