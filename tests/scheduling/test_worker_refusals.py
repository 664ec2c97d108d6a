"""What the system refuses: a rule's own files are its own affair, the store's are everybody's."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scheduling.small_grids import outcome
from scheduling.small_jobs import (
    again_from_scratch,
    failed_labels,
    finished_labels,
    prepare,
    work,
)
from store.claiming import elsewhere, put_claim

from depthgauge.errors import StoreError
from depthgauge.scheduling import cohort_training
from depthgauge.scheduling import worker as work_module
from depthgauge.store.plan_files import PlanFiles
from depthgauge.store.run_folder import RunFolder
from depthgauge.store.study_folder import StudyFolder
from depthgauge.training.loop import StoppedEarlyError

OPENS = """
from pathlib import Path

from depthgauge.rules.dfa import DFA


class Opens(DFA):
    name = "opens"

    class Options(DFA.Options):
        number: int = 0

    def credit(self, context):
        if self.options.number == 13:
            Path("there is no such file").read_bytes()
        if self.options.number == 14:
            raise OSError(28, "No space left on device")
        return super().credit(context)
"""


def opening(folder: Path, *numbers: int) -> list[str]:
    """Settings of a rule that looks for files of its own."""
    path = folder / "rules_that_open.py"
    path.write_text(OPENS)
    return [f"{path}:Opens[number={number}]" for number in numbers]


# Of a rule


@pytest.mark.parametrize(
    ("number", "reason"), [(13, "FileNotFoundError: "), (14, "OSError: [Errno 28] No space left")]
)
def test_a_rule_that_is_refused_a_file_fails_alone(tmp_path, number, reason):
    job = prepare(tmp_path / "study", *opening(tmp_path, 1, number, 2), "bp", ks=(2,))
    study = work(job)
    (failed,) = [run for run in study.all_runs() if run.failure is not None]
    assert failed.config.rule.label == f"opens[number={number}]"
    assert failed.failure["reason"].startswith(reason)
    assert "rules_that_open.py" in failed.failure["details"]
    assert finished_labels(study.path) == {"opens[number=1]", "opens[number=2]", "bp"}


# Of the store


def refused(*_: Any, **__: Any) -> Any:
    raise OSError(errno.EIO, "Input/output error", "a file of the study")


def while_the_task_is_loaded(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(work_module, "load_task", refused)


def while_checkpoints_are_read(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cohort_training, "load_newest", refused)


def while_a_folder_is_made(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(RunFolder, "create", refused)


def while_metrics_are_cut(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(RunFolder, "rewind", refused)


def while_a_checkpoint_is_saved(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(RunFolder, "save", refused)


def while_the_plan_is_read(patch: pytest.MonkeyPatch) -> None:
    """By the worker's training alone: what it reads before and after is good."""
    rewind, read = RunFolder.rewind, PlanFiles.read

    def refuse_once(plan_files: PlanFiles) -> Any:
        patch.setattr(PlanFiles, "read", read)
        return refused()

    def rewind_then_refuse(*arguments: Any) -> None:
        rewind(*arguments)
        patch.setattr(PlanFiles, "read", refuse_once)

    patch.setattr(RunFolder, "rewind", rewind_then_refuse)


@pytest.mark.parametrize(
    "refuse",
    [
        while_the_task_is_loaded,
        while_checkpoints_are_read,
        while_a_folder_is_made,
        while_metrics_are_cut,
        while_a_checkpoint_is_saved,
        while_the_plan_is_read,
    ],
)
def test_a_store_that_is_refused_a_file_ends_the_worker_and_marks_nothing(
    tmp_path, monkeypatch, refuse: Callable[[pytest.MonkeyPatch], None]
):
    job = prepare(tmp_path / "study", "dfa", "bp")
    with monkeypatch.context() as patch:
        refuse(patch)
        with pytest.raises(StoreError) as caught:
            work(job)
    assert (caught.value.errno, caught.value.filename) == (errno.EIO, "a file of the study")
    study = StudyFolder(job.folder)
    assert failed_labels(study) == []
    assert finished_labels(study.path) == set()
    assert len(study.plan_files.read().files) == 1
    assert [study.claims.holder(name) for name in job.cohorts] == [None] * 2
    work(job)
    assert finished_labels(study.path) == {"dfa", "bp"}


# Claims that are lost


@pytest.mark.parametrize("ks", [(0, 2), (2,)], ids=["two runs", "one run"])
def test_whoever_was_taken_for_dead_neither_parts_a_cohort_nor_marks_a_run(
    tmp_path, monkeypatch, ks
):
    """What it ran into may be that others had gone on with the work."""
    job = prepare(tmp_path / "study", "dfa", ks=ks)
    theirs = job.folder / "claims" / f"{job.cohorts[0]}.2"
    train = cohort_training.train_cohort

    def lose_the_claim(*_: Any, **__: Any) -> None:
        monkeypatch.setattr(cohort_training, "train_cohort", train)
        put_claim(theirs.parent, "other", elsewhere()).rename(theirs)
        raise ZeroDivisionError

    def let_go(seconds: float) -> None:
        theirs.write_text(theirs.read_text().replace('"released":false', '"released":true'))

    monkeypatch.setattr(cohort_training, "train_cohort", lose_the_claim)
    monkeypatch.setattr(work_module.time, "sleep", let_go)
    study = work(job)
    assert len(study.plan_files.read().files) == 1
    assert failed_labels(study) == []
    work(again_from_scratch(job, tmp_path / "again"))
    assert outcome(study.path) == outcome(tmp_path / "again")
    assert len(outcome(study.path)) == len(ks)


def test_when_runs_at_their_end_raise_those_that_go_back_stay_planned(tmp_path, monkeypatch):
    """Two have lost their results, two their networks too, and one is done."""
    job = prepare(tmp_path / "study", "dfa", ks=(2,), seeds=range(5))
    study = work(job)
    runs = [study.run(config) for config in study.plan_files.read().current[0].configs]
    for run in runs[:4]:
        run.result_path.unlink()
    for run in runs[2:4]:
        run.checkpoint_path.unlink()
    stopping: list[bool] = []

    def raise_and_stop(*_: Any, **__: Any) -> None:
        stopping.append(True)
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(cohort_training, "train_cohort", raise_and_stop)
        with pytest.raises(StoppedEarlyError):
            work(job, lambda: bool(stopping))
    planned = [
        identity for cohort in study.plan_files.read().current for identity in cohort.identities
    ]
    assert sorted(planned) == sorted(run.config.identity for run in runs[:4])
    work(job)
    assert all(run.result is not None for run in runs)
    assert failed_labels(study) == []
