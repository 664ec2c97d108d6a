"""Real signals on real processes: nothing is lost, and the same command goes on."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from cli.commands import Done, complaints
from cli.waiting import WAITS_AT, Study, is_running, until

SAVED = "depthgauge: stopped, and everything is saved; run the same command again to continue\n"
NOW = "depthgauge: interrupted; run the same command again to continue from the last checkpoint\n"


@pytest.fixture
def study_of(tmp_path: Path) -> Iterator[Callable[[int], Study]]:
    """Makes a study of so many cohorts, whose processes are ended whatever happens."""
    made: list[Study] = []

    def make(cohorts: int) -> Study:
        made.append(Study(tmp_path, cohorts))
        return made[-1]

    yield make
    for study in made:
        study.leave_nothing_behind()


def send_twice(pid: int, number: int) -> None:
    """With a moment between them: two of the same that come together are one."""
    os.kill(pid, number)
    time.sleep(1.0)
    os.kill(pid, number)


def undisturbed(parent: Path, cohorts: int = 1) -> dict[str, bytes]:
    """The metrics of a study that nobody disturbed."""
    study = Study(parent, cohorts, "undisturbed")
    done = study.again()
    assert done.status == 0, done.err
    assert len(study.metrics()) == 2 * cohorts
    return study.metrics()


def assert_goes_on(study: Study) -> None:
    """The same command ends the study as if nobody had disturbed it."""
    assert study.metrics() == {}
    done = study.again()
    assert (done.status, done.err) == (0, "")
    assert study.metrics() == undisturbed(study.parent, study.cohorts)


def assert_stopped(done: Done, number: int) -> None:
    assert (done.status, done.out, complaints(done.err)) == (128 + number, "", SAVED)


ALL = [
    signal.SIGTERM,
    pytest.param(signal.SIGINT, marks=pytest.mark.slow),
    pytest.param(signal.SIGUSR1, marks=pytest.mark.slow),
]


@pytest.mark.parametrize("number", ALL)
def test_asked_once_it_saves_inside_the_epoch_and_goes_on_from_there(study_of, number):
    study = study_of(1)
    process = study.begin()
    process.send_signal(number)
    assert_stopped(study.end(process), number)
    assert study.positions() == {WAITS_AT}
    assert_goes_on(study)


@pytest.mark.slow
def test_ctrl_c_twice_stops_at_once_and_the_study_can_still_go_on(study_of):
    study = study_of(1)
    process = study.begin()
    send_twice(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)  # nobody has let it go on
    assert (process.returncode, out, complaints(err)) == (130, "", NOW)
    assert study.positions() == {None}
    assert_goes_on(study)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGUSR1])
def test_with_two_worker_processes_both_save_and_go_on(study_of, number):
    """Ctrl-C reaches every process of the terminal, what a cluster sends the first alone."""
    study = study_of(2)
    process = study.begin(cores=2, start_new_session=True)
    if number == signal.SIGINT:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    time.sleep(2.0)  # it looks now and then whether somebody asked
    assert_stopped(study.end(process), number)
    assert study.positions() == {WAITS_AT}
    assert_goes_on(study)


def some_process_starts(command: psutil.Process) -> bool:
    return bool(command.children())


def both_workers_load_their_modules(command: psutil.Process) -> bool:
    """Parts of torch are there already; it takes a while until all are."""
    loading = [
        child
        for child in command.children()
        if any("libtorch" in part.path for part in child.memory_maps())
    ]
    return len(loading) == 2


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(psutil.Process, "memory_maps"), reason="needs to look inside")
@pytest.mark.parametrize("moment", [some_process_starts, both_workers_load_their_modules])
def test_ctrl_c_while_worker_processes_start_leaves_no_traceback(study_of, moment):
    """It reaches them before they can hear it."""
    study = study_of(2)
    process = study.start(cores=2, start_new_session=True)
    command = psutil.Process(process.pid)
    until(lambda: process.poll() is not None or moment(command))
    os.killpg(process.pid, signal.SIGINT)
    assert_stopped(study.end(process), signal.SIGINT)
    assert_goes_on(study)


@pytest.mark.slow
def test_ctrl_c_twice_ends_two_worker_processes_at_once(study_of):
    study = study_of(2)
    process = study.begin(cores=2, start_new_session=True)
    send_twice(-process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, complaints(err)) == (130, "", NOW)
    for worker in study.waiting:
        until(lambda pid=worker: not is_running(pid))
    assert_goes_on(study)


@pytest.mark.slow
def test_what_a_killed_worker_had_begun_another_takes_over(study_of):
    study = study_of(2)
    process = study.begin(cores=2)
    killed, _ = study.waiting
    os.kill(killed, signal.SIGKILL)
    until(lambda: not is_running(killed))
    done = study.end(process)
    assert (done.status, complaints(done.err)) == (0, "")
    assert list((study.folder / "claims").iterdir()) == []
    assert study.metrics() == undisturbed(study.parent, cohorts=2)


@pytest.mark.slow
def test_workers_that_are_asked_to_stop_one_by_one_do_not_make_a_whole_study(study_of):
    """Both save and end; the command must not end as if all had been trained."""
    study = study_of(2)
    process = study.begin(cores=2)
    for worker in study.waiting:
        os.kill(worker, signal.SIGTERM)
    done = study.end(process)
    assert study.positions() == {WAITS_AT}
    assert done.status != 0, done
    assert complaints(done.err).startswith("depthgauge: ")
    assert_goes_on(study)


@pytest.mark.slow
def test_an_ignored_signal_stays_ignored(study_of):
    study = study_of(1)

    def ignore() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    process = study.begin(preexec_fn=ignore)
    process.send_signal(signal.SIGINT)
    done = study.end(process)
    assert (done.status, done.err) == (0, "")
    assert study.metrics() == undisturbed(study.parent)
