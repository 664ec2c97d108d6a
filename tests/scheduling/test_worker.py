"""A worker: trains what nobody else trains, and nobody's failure is another's."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from scheduling.small_grids import outcome
from scheduling.small_jobs import (
    RULES_OF_A_USER,
    STEPS,
    again_from_scratch,
    failed_labels,
    finished_labels,
    prepare,
    work,
    write_rules,
)
from store.claiming import elsewhere, put_claim
from store.small_runs_on_disk import contents
from training.small_runs import make_task

from depthgauge.errors import UserError
from depthgauge.scheduling import cohort_training
from depthgauge.scheduling import worker as work_module
from depthgauge.scheduling.cohort_training import Conditions, train_runs
from depthgauge.scheduling.worker import Job
from depthgauge.store.claims import Claim, Claims
from depthgauge.store.metrics_file import MetricsFile
from depthgauge.store.run_folder import RunFolder
from depthgauge.store.study_folder import StudyFolder
from depthgauge.training.loop import StoppedEarlyError


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    return write_rules(tmp_path)


@pytest.fixture
def claims_taken(monkeypatch: pytest.MonkeyPatch) -> list[Claim]:
    """Every claim that is taken, in order."""
    taken: list[Claim] = []
    take = Claims.take

    def remember(claims: Claims, name: str) -> Claim | None:
        claim = take(claims, name)
        if claim is not None:
            taken.append(claim)
        return claim

    monkeypatch.setattr(Claims, "take", remember)
    return taken


def names(claims: list[Claim]) -> list[str]:
    return [claim.path.stem for claim in claims]


def count_trained(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many runs were trained together, each time anything was."""
    counted: list[int] = []
    train = cohort_training.train_cohort

    def count(cohort: Any, *arguments: Any, **options: Any) -> None:
        counted.append(len(cohort.configs))
        train(cohort, *arguments, **options)

    monkeypatch.setattr(cohort_training, "train_cohort", count)
    return counted


def settings(rules: Path, name: str, *numbers: int) -> list[str]:
    return [f"{rules}:{name}[number={number}]" for number in numbers]


# Everything, once


def test_one_worker_trains_all_and_leaves_no_claims(tmp_path, claims_taken):
    job = prepare(tmp_path / "study", "bp", "fa", "dfa")
    study = work(job)
    assert names(claims_taken) == list(job.cohorts)
    assert finished_labels(study.path) == {"bp", "fa", "dfa"}
    assert len(outcome(study.path)) == 6
    assert list(study.claims.folder.iterdir()) == []
    assert failed_labels(study) == []


def test_a_second_worker_trains_nothing_and_changes_nothing(tmp_path, monkeypatch):
    job = prepare(tmp_path / "study", "bp", "dfa")
    work(job)
    before = contents(job.folder)
    trained = count_trained(monkeypatch)
    work(job)
    assert trained == []
    assert contents(job.folder) == before


def test_only_the_cohorts_of_the_job_are_trained(tmp_path):
    job = prepare(tmp_path / "study", "bp", "dfa")
    work(Job(job.folder, job.cohorts[1:], "cpu", 1, 0.0, "depthgauge test"))
    assert finished_labels(job.folder) == {"dfa"}


def test_what_others_train_is_waited_for(tmp_path, monkeypatch):
    job = prepare(tmp_path / "study", "bp", "dfa")
    path = put_claim(job.folder / "claims", job.cohorts[0], elsewhere())
    waited = []

    def sleep(seconds: float) -> None:
        assert finished_labels(job.folder) == {"dfa"}
        waited.append(seconds)
        path.write_text(path.read_text().replace('"released":false', '"released":true'))

    monkeypatch.setattr(work_module.time, "sleep", sleep)
    work(job)
    assert waited == [work_module.LOOK_EVERY]
    assert finished_labels(job.folder) == {"bp", "dfa"}


def test_while_it_waits_it_can_be_stopped(tmp_path, monkeypatch):
    job = prepare(tmp_path / "study", "bp")
    put_claim(job.folder / "claims", job.cohorts[0], elsewhere())
    asked: list[float] = []
    monkeypatch.setattr(work_module.time, "sleep", asked.append)
    with pytest.raises(StoppedEarlyError):
        work(job, lambda: len(asked) == 3)


def test_asked_to_stop_it_saves_lets_go_and_trains_nothing_more(tmp_path, claims_taken):
    job = prepare(tmp_path / "study", "bp", "dfa")
    asked = iter([False, False, True])
    with pytest.raises(StoppedEarlyError):
        work(job, lambda: next(asked, True))
    study = StudyFolder(job.folder)
    assert names(claims_taken) == [job.cohorts[0]]
    assert study.claims.holder(job.cohorts[0]) is None
    assert [max(folder.saved()) for folder in study.all_runs()] == [(1, 0)] * 2
    work(job)
    work(again_from_scratch(job, tmp_path / "again"))
    assert outcome(job.folder) == outcome(tmp_path / "again")


# Rules that raise


def test_a_run_that_raises_fails_alone_and_the_others_finish(tmp_path, rules):
    typed = settings(rules, "Picky", 0, 1, 13, 3, 4)
    job = prepare(tmp_path / "study", "dfa", *typed, ks=(2,))
    study = work(job)
    assert failed_labels(study) == ["picky[number=13]"]
    done = {"dfa", "picky", "picky[number=1]", "picky[number=3]", "picky[number=4]"}
    assert finished_labels(job.folder) == done
    (failure,) = [folder.failure for folder in study.all_runs() if folder.failure]
    assert failure["reason"] == "ZeroDivisionError: the author divided by zero"
    assert "rules_of_a_user.py" in failure["details"]
    assert failure["provenance"]["version"]
    assert all(study.claims.holder(name) is None for name in study.plan_files.read().cohorts)


def test_the_plan_in_the_folder_repeated_from_scratch_gives_the_same_bits(tmp_path, rules):
    job = prepare(tmp_path / "study", *settings(rules, "Picky", 1, 13, 3), ks=(2,), seeds=(1, 2))
    study = work(job)
    assert failed_labels(study) == ["picky[number=13]"] * 2
    again = work(again_from_scratch(job, tmp_path / "again"))
    assert failed_labels(again) == failed_labels(study)
    assert len(outcome(job.folder)) == 4
    assert outcome(again.path) == outcome(job.folder)


def test_what_a_cohort_did_before_a_rule_raised_is_not_lost(tmp_path, rules):
    """Its halves go on from there; beside a study from scratch that is the same up to rounding."""
    job = prepare(tmp_path / "study", *settings(rules, "Late", 1, 13, 3), ks=(2,), seeds=(1, 2))
    study = work(job)
    again = work(again_from_scratch(job, tmp_path / "again"))
    assert failed_labels(study) == failed_labels(again) == ["late[number=13]"] * 2
    for folder in study.all_runs():
        if (result := folder.result) is not None:
            other = again.run(folder.config).result
            assert result["provenance"]["resumed_from"] is not None
            assert result["final"]["h_norm"] == pytest.approx(other["final"]["h_norm"], rel=1e-5)


def test_a_failed_run_is_left_alone_by_the_next_command(tmp_path, rules, monkeypatch):
    job = prepare(tmp_path / "study", *settings(rules, "Picky", 1, 13), ks=(2,))
    work(job)
    before = contents(job.folder)
    trained = count_trained(monkeypatch)
    work(job)
    assert trained == []
    assert contents(job.folder) == before


def test_of_two_workers_whose_cohort_raises_one_parts_it(tmp_path, rules, monkeypatch):
    """The second finds the cohort parted when it wants to part it itself."""
    job = prepare(tmp_path / "study", *settings(rules, "Picky", 1, 13, 3), ks=(2,))
    set_apart = work_module.Worker._split

    def late(worker: Any, *arguments: Any) -> None:
        monkeypatch.setattr(work_module.Worker, "_split", set_apart)
        set_apart(work_module.Worker(job, StudyFolder(job.folder), lambda: False), *arguments)
        set_apart(worker, *arguments)

    monkeypatch.setattr(work_module.Worker, "_split", late)
    study = work(job)
    assert failed_labels(study) == ["picky[number=13]"]
    assert len(study.plan_files.read().files) == 3  # the cohort, its halves, the half of three


# Too many for the memory


def out_of_memory() -> Iterator[Exception]:
    """As Python, PyTorch and CUDA say it."""
    while True:
        yield MemoryError()
        yield RuntimeError("[enforce fail at alloc_cpu.cpp:124] can't allocate memory")
        yield torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")


@pytest.mark.parametrize(("fitting", "failed"), [(1, 0), (0, 3)])
def test_runs_that_are_too_many_for_the_memory_are_trained_in_parts(
    tmp_path, monkeypatch, fitting, failed
):
    """Only runs that do not fit alone fail; a cohort's memory is free when the next one begins."""
    job = prepare(tmp_path / "study", "dfa", ks=(2,), seeds=range(3))
    before: list[tuple[int, weakref.ref[Any]]] = []
    errors, train = out_of_memory(), cohort_training.train_cohort

    def short_of_memory(cohort: Any, *arguments: Any, **options: Any) -> None:
        assert not any(cohort() for _, cohort in before)
        before.append((len(cohort.configs), weakref.ref(cohort)))
        if len(cohort.configs) > fitting:
            raise next(errors)
        train(cohort, *arguments, **options)

    monkeypatch.setattr(cohort_training, "train_cohort", short_of_memory)
    study = work(job)
    assert sorted(runs for runs, _ in before) == [1, 1, 1, 2, 3]
    assert len(failed_labels(study)) == failed
    assert len(outcome(job.folder)) == 3 - failed


# What the user must mend


@pytest.mark.parametrize(
    ("owner", "method"), [(MetricsFile, "append"), (RunFolder, "save"), (RunFolder, "finish")]
)
def test_a_full_disk_stops_the_worker_and_marks_nothing(tmp_path, monkeypatch, owner, method):
    job = prepare(tmp_path / "study", "dfa")
    original = getattr(owner, method)
    calls = iter(range(100))

    def write(*arguments: Any) -> None:
        if next(calls) == 1:
            raise OSError(28, "No space left on device")
        original(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(owner, method, write)
        with pytest.raises(OSError, match="No space left"):
            work(job)
    study = StudyFolder(job.folder)
    assert failed_labels(study) == []
    assert len(study.plan_files.read().files) == 1
    assert study.claims.holder(job.cohorts[0]) is None
    work(job)
    work(again_from_scratch(job, tmp_path / "again"))
    assert outcome(job.folder) == outcome(tmp_path / "again")


def test_a_rule_that_changed_after_planning_is_refused_and_the_others_finish(tmp_path, rules):
    job = prepare(tmp_path / "study", f"{rules}:Works", "bp", "dfa")
    rules.write_text(RULES_OF_A_USER + "\n# edited\n")
    with pytest.raises(UserError) as caught:
        work(job)
    message = str(caught.value)
    assert "rules_of_a_user.py:Works changed after planning" in message
    assert "\n" not in message
    assert finished_labels(job.folder) == {"bp", "dfa"}
    assert failed_labels(StudyFolder(job.folder)) == []
    rules.write_text(RULES_OF_A_USER)
    work(job)
    assert finished_labels(job.folder) == {"works", "bp", "dfa"}


def test_data_that_are_gone_are_missed_in_one_sentence(tmp_path):
    job = prepare(tmp_path / "study", "dfa", "bp")
    (tmp_path / "tiny.npz").unlink()
    with pytest.raises(UserError) as caught:
        work(job)
    assert str(caught.value).count("tiny.npz") == 1
    assert failed_labels(StudyFolder(job.folder)) == []


# Claims that are lost


def test_a_claim_that_is_lost_stops_its_cohort_only(tmp_path, monkeypatch, claims_taken):
    job = prepare(tmp_path / "study", "bp", "dfa")
    lost = job.folder / "claims" / f"{job.cohorts[0]}.2"
    steps = iter(range(1, 100))

    def stop() -> bool:
        if next(steps) == 3:  # asked before claiming and after every step
            put_claim(lost.parent, "other", elsewhere()).rename(lost)
            claims_taken[0].beat({})
        return False

    def sleep(seconds: float) -> None:
        assert finished_labels(job.folder) == {"dfa"}
        lost.write_text(lost.read_text().replace('"released":false', '"released":true'))

    monkeypatch.setattr(work_module.time, "sleep", sleep)
    study = work(job, stop)
    assert names(claims_taken) == [job.cohorts[0], job.cohorts[1], job.cohorts[0]]
    assert finished_labels(study.path) == {"bp", "dfa"}
    work(again_from_scratch(job, tmp_path / "again"))
    assert outcome(job.folder) == outcome(tmp_path / "again")


def test_an_owner_that_sleeps_while_others_finish_its_cohort_spoils_nothing_when_it_wakes(
    tmp_path, claims_taken
):
    job = prepare(tmp_path / "study", "dfa")
    steps = iter(range(1, 100))
    done: dict[str, Any] = {}

    def stop() -> bool:
        if next(steps) == 3:
            other = StudyFolder(job.folder)
            put_claim(other.claims.folder, "other", elsewhere()).rename(
                other.claims.folder / f"{job.cohorts[0]}.2"
            )
            (cohort,) = other.plan_files.read().current
            train_runs(other, cohort, [0, 1], make_task(), Conditions("cpu", 0.0, "elsewhere"))
            other.claims.forget(cohort.name)
            done.update(contents(other.runs))
            claims_taken[0].beat({})
        return False

    study = work(job, stop)
    assert len(outcome(job.folder)) == 2
    assert contents(study.runs) == done
    assert next(steps) < STEPS
