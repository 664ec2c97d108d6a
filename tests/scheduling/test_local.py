"""On this machine: side by side or one after the other, the same results."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from scheduling.small_grids import outcome
from scheduling.small_jobs import (
    again_from_scratch,
    failed_labels,
    finished_labels,
    prepare,
    work,
    write_rules,
)

from depthgauge.errors import UserError
from depthgauge.scheduling import local
from depthgauge.scheduling.interrupt import Interrupt
from depthgauge.scheduling.local import conclude, run_here, run_locally, run_side_by_side
from depthgauge.scheduling.worker import Job
from depthgauge.store.study_folder import StudyFolder
from depthgauge.training.loop import StoppedEarlyError


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    """Whatever a test sets, others find what was there."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    return write_rules(tmp_path)


def test_side_by_side_gives_the_same_bits_as_one_after_the_other(tmp_path, rules):
    """Also where one of the rules raises."""
    typed = ("bp", f"{rules}:Works", f"{rules}:Picky[number=13]", f"{rules}:Picky[number=1]")
    job = prepare(tmp_path / "side", *typed)
    looks: list[int] = []
    run_side_by_side(job, StudyFolder(job.folder), 2, Interrupt(), lambda: looks.append(1))
    assert looks
    assert finished_labels(job.folder) == {"bp", "works", "picky[number=1]"}
    assert failed_labels(StudyFolder(job.folder)) == ["picky[number=13]"] * 2
    here = again_from_scratch(job, tmp_path / "here")
    run_here(here, StudyFolder(here.folder), Interrupt(), lambda: None)
    assert len(outcome(here.folder)) == 6
    assert outcome(job.folder) == outcome(here.folder)


@pytest.mark.slow
def test_a_worker_that_dies_costs_only_its_own_cohort(tmp_path, rules):
    job = prepare(tmp_path / "study", "bp", "dfa", f"{rules}:Dies")
    with pytest.raises(UserError, match="died before its work was done"):
        run_side_by_side(job, StudyFolder(job.folder), 2, Interrupt(), lambda: None)
    assert finished_labels(job.folder) == {"bp", "dfa"}


@pytest.mark.slow
def test_what_workers_refuse_is_said_once(tmp_path, rules):
    job = prepare(tmp_path / "study", f"{rules}:Works", "dfa")
    rules.write_text("changed = True\n")
    with pytest.raises(UserError) as caught:
        run_side_by_side(job, StudyFolder(job.folder), 2, Interrupt(), lambda: None)
    assert str(caught.value).count("Works") == 1
    assert finished_labels(job.folder) == {"dfa"}


def test_here_the_threads_are_those_of_the_study_and_a_signal_stops_it(tmp_path):
    """Afterwards they are what they were."""
    job, seen = prepare(tmp_path / "study", "dfa"), set()

    class Asked(Interrupt):
        def __call__(self) -> bool:
            seen.add(torch.get_num_threads())
            return True

    torch.set_num_threads(2)
    with pytest.raises(StoppedEarlyError):
        run_here(job, StudyFolder(job.folder), Asked(), lambda: None)
    assert seen == {job.threads} == {1}
    assert torch.get_num_threads() == 2
    assert finished_labels(job.folder) == set()


def test_here_the_threads_are_what_they_were_also_when_the_store_is_refused(tmp_path, monkeypatch):
    job = prepare(tmp_path / "study", "dfa")
    monkeypatch.setattr(local.Worker, "work", refuse)
    torch.set_num_threads(2)
    with pytest.raises(OSError, match="Input/output"):
        run_here(job, StudyFolder(job.folder), Interrupt(), lambda: None)
    assert torch.get_num_threads() == 2


def refuse(worker: local.Worker) -> None:
    raise OSError(5, "Input/output error")


# How it ends


@pytest.fixture
def asked() -> Interrupt:
    interrupt = Interrupt()
    interrupt.hear(signal.SIGTERM, None)
    return interrupt


@pytest.mark.parametrize("stopped", [False, True])
def test_what_workers_said_is_said_once_also_after_a_signal(tmp_path, asked, stopped):
    job = prepare(tmp_path / "study", "dfa")
    interrupt = asked if stopped else Interrupt()
    with pytest.raises(UserError, match=r"^no room; bad rule$"):
        conclude(job, StudyFolder(job.folder), ["no room", "bad rule", "no room"], interrupt)


def test_where_workers_said_nothing_a_signal_is_what_ended_them(tmp_path, asked):
    job = prepare(tmp_path / "study", "dfa")
    with pytest.raises(StoppedEarlyError):
        conclude(job, StudyFolder(job.folder), [], asked)


def test_without_a_word_or_a_signal_work_that_is_left_is_missed(tmp_path):
    job = prepare(tmp_path / "study", "dfa")
    with pytest.raises(UserError, match="died before its work was done"):
        conclude(job, StudyFolder(job.folder), [], Interrupt())
    work(job)
    conclude(job, StudyFolder(job.folder), [], Interrupt())


# How many


@pytest.mark.parametrize(("processes", "started"), [(3, 3), (1, None)])
def test_one_process_is_this_one(monkeypatch, tmp_path, processes, started):
    found: list[int | None] = []
    monkeypatch.setattr(local, "run_here", lambda *_: found.append(None))
    monkeypatch.setattr(
        local, "run_side_by_side", lambda job, study, count, *_: found.append(count)
    )
    job = Job(tmp_path, (), "cpu", 1, 0.0, "")
    run_locally(job, StudyFolder(tmp_path), processes, Interrupt(), lambda: None)
    assert found == [started]
