"""`--executor slurm`: what the command writes, prints and hands on."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
from cli.commands import Done, assert_bad_input, run
from cli.conftest import one_core
from scheduling.slurm_scripts import called, options, put_program

from depthgauge.scheduling.memory_estimate import planned_bytes
from depthgauge.store.plan_files import PlanFiles
from depthgauge.store.study_folder import StudyFolder
from depthgauge.tasks.registry import load_task


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    with one_core():
        yield


def command(folder: Path, *more: object) -> list[str]:
    """A ladder of two cohorts."""
    small = ("--task", "digits", "--width", 6, "--depth", 1, "--epochs", 1, "--threads", 1)
    rules = ("--rules", "bp", "dfa", "--k", 0, "--seeds", 1, "--save-every", 30, "--no-floors")
    asked = ("ladder", *small, *rules, "--out", folder, "--executor", "slurm", *more)
    return [str(argument) for argument in asked]


def ladder(folder: Path, *more: object) -> Done:
    """The command as it is typed."""
    typed = command(folder, *more)
    with patch.object(sys, "argv", ["depthgauge", *typed]):
        return run(*typed)


def test_the_command_writes_the_script_and_trains_nothing(tmp_path):
    folder = tmp_path / "study"
    done = ladder(folder)
    assert (done.status, done.err) == (0, "")
    script = folder / "slurm" / "array.sh"
    collect = "submits the study; when the job has ended, this command writes the tables:\n"
    again = shlex.join(["depthgauge", *command(folder)])
    assert done.out == f"sbatch {script}\n{collect}{again}\n"
    assert list(folder.glob("runs/*")) == []
    asked = options(script)
    assert (asked["array"], asked["cpus-per-task"]) == ("0-1", "1")
    assert 50 < int(asked["mem"].rstrip("M")) < 100_000
    line = next(line for line in script.read_text().splitlines() if " resume " in line)
    assert shlex.split(line)[:4] == [sys.executable, "-m", "depthgauge.cli.main", "resume"]
    assert "--device cpu --save-every 30 " in line
    names = [cohort.name for cohort in PlanFiles(folder / "plan").read().current]
    assert f"cohorts=({' '.join(names)})" in script.read_text()


def test_the_command_is_quoted_where_the_shell_needs_it(tmp_path):
    folder = tmp_path / "a study"
    sbatch = ladder(folder).out.splitlines()[0]
    assert shlex.split(sbatch) == ["sbatch", str(folder / "slurm" / "array.sh")]


def test_as_json_it_is_one_document(tmp_path):
    folder = tmp_path / "a study"
    done = ladder(folder, "--json")
    assert (done.status, done.err) == (0, "")
    assert done.document == {
        "script": str(folder / "slurm" / "array.sh"),
        "collect": shlex.join(["depthgauge", *command(folder, "--json")]),
        "submitted": None,
    }
    assert list(folder.glob("runs/*")) == []


def test_the_memory_that_is_asked_for_is_that_of_the_largest_cohort(tmp_path):
    folder = tmp_path / "study"
    ladder(folder, "--width", 256, "--depth", 4, "--rules", "dfa[shallow]", "bp", "drtp[shallow]")
    task = load_task("digits")
    expected = [planned_bytes(cohort, task) for cohort in PlanFiles(folder / "plan").read().current]
    assert expected[0] == pytest.approx(expected[2], rel=0.01)
    assert expected[0] < 0.99 * expected[1]
    asked = int(options(folder / "slurm" / "array.sh")["mem"].rstrip("M"))
    assert asked == -(-max(expected) // 2**20)


@pytest.mark.parametrize("failed", [False, True], ids=["all done", "one failed"])
def test_once_all_has_ended_the_command_that_was_named_collects(tmp_path, failed):
    """There is nothing to submit, also where a run has failed."""
    folder = tmp_path / "a study"
    collect = shlex.split(ladder(folder, "--json").document["collect"])
    assert run("resume", folder).status == 0
    first = next(StudyFolder(folder).all_runs())
    if failed:
        first.result_path.unlink()
        first.fail("ZeroDivisionError", "", {})
    (folder / "slurm" / "array.sh").unlink()
    done = run(*collect[1:])
    assert done.status == failed
    assert ("ZeroDivisionError" in done.err) == failed
    assert not (folder / "slurm" / "array.sh").exists()
    left = {"bp", "dfa"} - ({first.config.rule.label} if failed else set())
    assert set(done.document["rules"]) == left


def test_what_has_ended_is_not_submitted_again(tmp_path):
    folder = tmp_path / "study"
    ladder(folder)
    ended, *left = [cohort.name for cohort in PlanFiles(folder / "plan").read().current]
    assert run("resume", folder, "--cohorts", ended).status == 0
    ladder(folder)
    assert f"cohorts=({' '.join(left)})" in (folder / "slurm" / "array.sh").read_text()


def test_submitted_where_there_is_no_sbatch(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    done = ladder(tmp_path / "study", "--submit")
    assert_bad_input(done, "--submit", "has no sbatch", "slurm/array.sh")
    assert (tmp_path / "study" / "slurm" / "array.sh").is_file()


def test_submitted_the_script_is_given_to_sbatch(tmp_path, monkeypatch):
    put_program(tmp_path, "sbatch", 'echo "Submitted batch job 4711"')
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    done = ladder(tmp_path / "study", "--submit")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("Submitted batch job 4711; when the job has ended, ")
    collect = shlex.join(["depthgauge", *command(tmp_path / "study")])
    assert done.out.endswith(f"\n{collect}\n")
    assert called(tmp_path, "sbatch") == [str(tmp_path / "study" / "slurm" / "array.sh")]


def test_as_json_the_answer_of_sbatch_is_in_the_document(tmp_path, monkeypatch):
    put_program(tmp_path, "sbatch", 'echo "Submitted batch job 4711"')
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    done = ladder(tmp_path / "study", "--submit", "--json")
    assert (done.status, done.err) == (0, "")
    assert done.document["submitted"] == "Submitted batch job 4711"


def test_what_sbatch_refuses_is_said(tmp_path, monkeypatch):
    put_program(
        tmp_path, "sbatch", "echo 'sbatch: error: Batch job\nsubmission failed' >&2; exit 1"
    )
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    done = ladder(tmp_path / "study", "--submit")
    assert_bad_input(done, "sbatch refused", "array.sh", "Batch job submission failed")


def test_submit_without_slurm_is_refused(tmp_path):
    small = ("--task", "digits", "--width", 6, "--depth", 1, "--epochs", 1, "--threads", 1)
    done = run("ladder", *small, "--rules", "bp", "--seeds", 1, "--out", tmp_path / "s", "--submit")
    assert_bad_input(done, "--submit", "--executor slurm")
    assert not (tmp_path / "s").exists()
