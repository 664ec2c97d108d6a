"""The array job of Slurm: its script is run for real, by bash, with a Slurm that is not one."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from cli.commands import run
from cli.conftest import one_core
from cli.waiting import WAITS_AT, Study, until
from scheduling.slurm_scripts import called, environment, options, put_program
from scheduling.small_grids import outcome
from scheduling.small_jobs import prepare

from depthgauge.scheduling import slurm
from depthgauge.scheduling.slurm import write_script
from depthgauge.scheduling.worker import Job
from depthgauge.store.study_folder import StudyFolder

REQUEUE = 128 + signal.SIGUSR1


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    with one_core():
        yield


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """Three cohorts of two runs, in a folder whose name needs quotes."""
    return prepare(tmp_path / "a study", "bp", "fa", "dfa")


@pytest.fixture
def written(job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Writes the script with a program in place of depthgauge, which does as it is told."""

    def write(body: str) -> Path:
        worker = put_program(tmp_path, "worker", body)
        with monkeypatch.context() as patched:
            patched.setattr(slurm.sys, "executable", str(worker))
            return write_script(job, 1)

    return write


def run_task(script: Path, folder: Path, task: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", str(script)],
        env=environment(folder, task),
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


def begin_task(script: Path, env: dict[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["bash", str(script)],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def end_all_of(process: subprocess.Popen[str]) -> None:
    """A task and the worker that it started, whatever happened."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


# The script


def test_what_it_asks_for(job):
    script = write_script(replace(job, threads=3), 2**30)
    assert script == job.folder / "slurm" / "array.sh"
    assert script.read_text().startswith("#!/bin/bash\n#SBATCH ")
    assert options(script) == {
        "job-name": "depthgauge",
        "array": "0-2",
        "cpus-per-task": "3",
        "mem": "1024M",
        "signal": "B:USR1@120",
        "requeue": "",
        "open-mode": "append",
        "output": f'"{job.folder}/slurm/%A_%a.log"',
    }


def test_a_gpu_is_asked_for_where_one_is_used(job):
    assert options(write_script(replace(job, device="cuda"), 1))["gres"] == "gpu:1"


def test_bash_can_read_it(job):
    script = write_script(job, 1)
    done = subprocess.run(["bash", "-n", str(script)], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_each_task_of_the_array_trains_one_cohort(job, written, tmp_path):
    script = written("exit 0")
    put_program(tmp_path, "scontrol")
    for task in range(3):
        assert run_task(script, tmp_path, task).returncode == 0
    asked = [line.partition(" --cohorts ")[2] for line in called(tmp_path, "worker")]
    assert asked == list(job.cohorts)
    for line in called(tmp_path, "worker"):
        assert line.startswith(f"-m depthgauge.cli.main resume {job.folder} --device cpu ")
    assert called(tmp_path, "scontrol") == []


@pytest.mark.parametrize(("status", "requeued"), [(0, 0), (1, 0), (2, 0), (REQUEUE, 1), (143, 0)])
def test_only_a_task_that_was_asked_to_stop_is_queued_again(written, tmp_path, status, requeued):
    put_program(tmp_path, "scontrol")
    assert run_task(written(f"exit {status}"), tmp_path, 1).returncode == status
    assert called(tmp_path, "scontrol") == ["requeue 4711_1"] * requeued


@pytest.mark.parametrize(("status", "requeued"), [(REQUEUE, 1), (0, 0)])
def test_usr1_is_handed_on_and_the_worker_may_take_its_time(written, tmp_path, status, requeued):
    """What counts is how the worker ends in the end."""
    put_program(tmp_path, "scontrol")
    asked = f"trap 'sleep 0.3; touch {tmp_path}/asked; exit {status}' USR1"
    script = written(f"{asked}; touch {tmp_path}/ready; while true; do sleep 0.05; done")
    process = begin_task(script, environment(tmp_path, 2))
    try:
        until((tmp_path / "ready").exists)
        process.send_signal(signal.SIGUSR1)
        assert process.wait(timeout=100) == status
    finally:
        end_all_of(process)
    assert (tmp_path / "asked").exists()
    assert called(tmp_path, "scontrol") == ["requeue 4711_2"] * requeued


@pytest.mark.slow
def test_real_cohorts_are_trained_by_the_script(tmp_path):
    """Task 1 of two; the whole array is in the slow test below."""
    job = prepare(tmp_path / "a study", "bp", "dfa", ks=(0,))
    done = run_task(write_script(job, 1), tmp_path, 1)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"1 of 2 runs in {job.folder} are finished\n"
    labels = [run.config.rule.label for run in StudyFolder(job.folder).all_runs()]
    assert labels == ["dfa"]


@pytest.mark.slow
def test_the_whole_array_trains_what_one_machine_trains(job, tmp_path):
    script = write_script(job, 1)
    for task in range(3):
        assert run_task(script, tmp_path, task).returncode == 0
    here = prepare(tmp_path / "here", "bp", "fa", "dfa")
    assert run("resume", here.folder).status == 0
    assert len(outcome(job.folder)) == 6
    assert outcome(job.folder) == outcome(here.folder)


@pytest.mark.slow
def test_usr1_leads_to_a_checkpoint_and_a_requeue(tmp_path):
    study = Study(tmp_path)
    put_program(tmp_path, "scontrol")
    assert run(*study.command, "--executor", "slurm").status == 0
    script = study.folder / "slurm" / "array.sh"
    process = begin_task(script, environment(tmp_path, 0) | {"TEST_WAITS_IN": str(study.waits)})
    try:
        until(lambda: bool(study.waiting) or process.poll() is not None)
        process.send_signal(signal.SIGUSR1)
        time.sleep(1.0)
        study.go()
        out, err = process.communicate(timeout=100)
    finally:
        end_all_of(process)
    assert process.returncode == REQUEUE, (out, err)
    assert "everything is saved" in err
    assert called(tmp_path, "scontrol") == ["requeue 4711_0"]
    assert study.positions() == {WAITS_AT}
    again = run_task(script, tmp_path, 0)
    assert again.returncode == 0, again.stderr
    assert len(study.metrics()) == 2
