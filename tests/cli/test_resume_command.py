"""`depthgauge resume` and `retry`: a study goes on from its folder alone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from cli.audits import read
from cli.commands import assert_bad_input, run, run_ladder
from cli.stopped_studies import STOPPED_AT, command, results, resumed_from, run_raising
from scheduling.small_grids import outcome
from store.small_runs_on_disk import contents

import depthgauge
from depthgauge.errors import UserError
from depthgauge.scheduling import resume
from depthgauge.store.plan_files import PlanFiles
from depthgauge.study_config import StudyConfig


def cohorts(study: Path) -> list[str]:
    return [cohort.name for cohort in PlanFiles(study / "plan").read().current]


def plan_alone(study: Path, folder: Path) -> Path:
    """A copy of nothing but `study.json` and `plan/`."""
    shutil.copytree(study / "plan", folder / "plan")
    shutil.copy(study / "study.json", folder)
    return folder


# Going on


@pytest.mark.parametrize("relative", [False, True])
def test_from_another_folder_it_goes_on_where_it_stopped(
    stopped, undisturbed, tmp_path, monkeypatch, relative
):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    done = run("resume", f"../{stopped.name}" if relative else stopped)
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("2 of 2 runs in ")
    assert outcome(stopped) == outcome(undisturbed)
    assert resumed_from(stopped) == [list(STOPPED_AT)] * 2
    assert list(elsewhere.iterdir()) == []


def test_task_and_rules_of_a_file_are_found_from_another_folder(tmp_path, monkeypatch):
    """Typed without their folder, they are written down with it."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "own.py").write_text(
        "from depthgauge.rules.dfa import DFA\n\n\nclass Own(DFA):\n    name = 'own'\n"
    )
    random = np.random.default_rng(1)
    arrays = {f"x_{part}": random.normal(size=(40, 5)) for part in ("train", "test")}
    arrays |= {f"y_{part}": random.integers(0, 3, 40) for part in ("train", "test")}
    np.savez(home / "own.npz", **arrays)
    monkeypatch.chdir(home)
    options = ("--task", "own.npz", "--width", 4, "--depth", 1, "--epochs", 1, "--threads", 1)
    rules = ("--rules", "own.py:Own", "--seeds", 1)
    typed = ("ladder", *options, *rules, "--no-twins", "--no-floors", "--out", "study")
    assert run(*typed).status == 0
    again = plan_alone(home / "study", tmp_path / "again")
    monkeypatch.chdir(tmp_path)
    assert run("resume", "again").out == "2 of 2 runs in again are finished\nagain/report.html\n"
    assert outcome(again) == outcome(home / "study")


def test_a_study_that_is_done_is_left_as_it_is_and_its_page_is_written_anew(study):
    (study / "report.html").write_text("old")
    before = contents(study)
    done = run("resume", study)
    said = f"12 of 12 runs in {study} are finished\n{study}/report.html\n"
    assert (done.status, done.out) == (0, said)
    after = contents(study)
    assert after.pop("report.html") != before.pop("report.html")
    assert after == before


def test_a_copy_of_the_plan_is_the_whole_study_over_again_bit_for_bit(trained, tmp_path):
    again = plan_alone(trained, tmp_path / "again")
    done = run("resume", again)
    assert (done.status, done.err) == (0, "")
    assert done.out == f"12 of 12 runs in {again} are finished\n{again}/report.html\n"
    assert len(outcome(again)) == 12
    assert outcome(again) == outcome(trained)


def test_a_plan_that_grew_is_repeated_too(tmp_path):
    first = tmp_path / "first"
    for seeds in ((1,), (1, 2)):
        assert run_ladder(first, "--seeds", *seeds, rules=("dfa",)).status == 0
    assert len(list((first / "plan").iterdir())) == 2
    again = plan_alone(first, tmp_path / "again")
    assert run("resume", again).status == 0
    assert outcome(again) == outcome(first)


def test_threads_of_the_study_are_used(undisturbed, tmp_path):
    again = plan_alone(undisturbed, tmp_path / "again")
    file = read(again / "study.json")
    (again / "study.json").write_text(json.dumps(file | {"threads": 2}))
    assert run("resume", again).status == 0
    threads = {read(path)["provenance"]["threads"] for path in results(again)}
    assert threads == {2}


# Some cohorts


def test_chosen_cohorts_alone_are_trained(trained, tmp_path):
    again = plan_alone(trained, tmp_path / "again")
    first, second = cohorts(trained)
    done = run("resume", again, "--cohorts", second)
    assert (done.status, done.out) == (0, f"6 of 12 runs in {again} are finished\n")
    labels = {read(path.with_name("config.json"))["rule"]["label"] for path in results(again)}
    assert labels == {"dfa"}
    assert run("resume", again, "--cohorts", first, second).status == 0
    assert outcome(again) == outcome(trained)


def test_an_unknown_cohort_is_refused(stopped):
    before = contents(stopped)
    done = run("resume", stopped, "--cohorts", "nothing")
    assert_bad_input(done, "--cohorts nothing", *cohorts(stopped))
    assert contents(stopped) == before


@pytest.mark.parametrize("name", ["resume", "retry"])
def test_not_a_study(tmp_path, name):
    options = ["--failed"] if name == "retry" else []
    assert_bad_input(run(name, tmp_path, *options), str(tmp_path), "study.json")


def test_a_rule_that_is_no_longer_there(stopping_rules, tmp_path):
    rules = tmp_path / "moved_rules.py"
    shutil.copy(stopping_rules, rules)
    assert run_raising(*command(rules, tmp_path / "study", "Raises")).status == 1
    rules.unlink()
    assert_bad_input(run("retry", tmp_path / "study", "--failed"), "moved_rules.py")


def test_a_rule_that_was_edited_is_refused(stopping_rules, undisturbed, tmp_path):
    rules = tmp_path / "edited_rules.py"
    shutil.copy(stopping_rules, rules)
    again = plan_alone(undisturbed, tmp_path / "again")
    plan = again / "plan" / "1.json"
    plan.write_text(plan.read_text().replace(str(stopping_rules), str(rules)))
    rules.write_text(rules.read_text() + "\n# edited\n")
    assert_bad_input(run("resume", again), "edited_rules.py", "changed after planning")
    assert outcome(again) == {}


def test_a_resumed_study_is_not_handed_to_slurm_in_silence(stopped):
    assert_bad_input(run("resume", stopped, "--executor", "slurm"), "--executor", "slurm")
    with pytest.raises(UserError, match="run the original command"):
        depthgauge.resume(stopped, StudyConfig(executor="slurm"))
    assert results(stopped) == []


@pytest.mark.parametrize("command", ["resume", "retry"])
def test_help_offers_the_executors_that_are_accepted(command):
    assert "--executor {local,ray}" in run(command, "--help").out


@pytest.mark.parametrize("device", ["cuda", "cuda:1"])
def test_another_device_than_the_study_was_started_with_is_refused(stopped, monkeypatch, device):
    """Though that device be here."""
    monkeypatch.setattr(resume, "choose_device", lambda name, executor: name)
    before = contents(stopped)
    done = run("resume", stopped, "--device", device)
    assert_bad_input(done, str(stopped), "was started with --device cpu", "give --device cpu")
    assert contents(stopped) == before


# What failed


@pytest.fixture
def failed(stopping_rules: Path, tmp_path: Path) -> Path:
    """A study in which one rule raised an error and one did not."""
    folder = tmp_path / "study"
    done = run_raising(*command(stopping_rules, folder, "Raises", "dfa"))
    assert done.status == 1
    assert len(results(folder)) == 2
    return folder


def test_what_failed_is_left_alone_until_it_is_retried(stopping_rules, failed):
    before = {name: f for name, f in contents(failed).items() if name.startswith("runs/")}
    done = run("resume", failed)
    assert done.status == 1
    assert "raises k=0 seed=1 and 1 more failed: ZeroDivisionError" in done.err
    assert done.out == f"2 of 4 runs in {failed} are finished\n{failed / 'report.html'}\n"
    assert {name: f for name, f in contents(failed).items() if name.startswith("runs/")} == before


def test_retried_when_the_reason_is_gone_it_is_done(failed):
    others = {path: path.read_bytes() for path in results(failed)}
    done = run("retry", failed, "--failed")
    assert (done.status, done.err) == (0, "")
    assert done.out == f"4 of 4 runs in {failed} are finished\n{failed}/report.html\n"
    assert len(results(failed)) == 4
    assert {path: path.read_bytes() for path in others} == others
    assert list(failed.glob("runs/*/failed.json")) == []
    reasons = [read(path)["reason"] for path in failed.glob("runs/*/quarantine/*.json")]
    assert reasons == ["ZeroDivisionError: the author divided by zero"] * 2
    assert run("status", failed).out == "4 runs: 4 finished\n"


def test_retried_while_the_reason_is_there_it_fails_again(failed):
    done = run_raising("retry", failed, "--failed")
    assert done.status == 1
    assert "failed: ZeroDivisionError" in done.err
    assert len(list(failed.glob("runs/*/failed.json"))) == 2


def test_what_failed_is_retried_and_nothing_else_is_trained(failed):
    """What is left of other cohorts, for others to train or for later, is left."""
    left = [path.parent for path in results(failed)]
    for run_folder in left:
        (run_folder / "result.json").unlink()
    before = {path: contents(path) for path in left}
    done = run("retry", failed, "--failed")
    assert (done.status, done.out) == (0, f"2 of 4 runs in {failed} are finished\n")
    (failed / "report.html").unlink()
    labels = {read(path.with_name("config.json"))["rule"]["label"] for path in results(failed)}
    assert labels == {"raises"}
    assert {path: contents(path) for path in left} == before
    done = run("resume", failed)
    assert done.out == f"4 of 4 runs in {failed} are finished\n{failed}/report.html\n"
    assert (failed / "report.html").is_file()


@pytest.mark.parametrize("options", [("--executor", "slurm"), ("--device", "abacus")])
def test_a_retry_that_is_refused_leaves_what_failed_as_it_is(failed, options):
    before = contents(failed)
    assert_bad_input(run("retry", failed, "--failed", *options), *options[:1])
    assert contents(failed) == before


def test_the_same_command_writes_the_tables_after_a_retry(stopping_rules, failed):
    run("retry", failed, "--failed")
    done = run(*command(stopping_rules, failed, "Raises", "dfa"))
    assert (done.status, done.err) == (0, "")
    assert set(done.document["rules"]) == {"raises", "dfa"}


def test_without_failures_there_is_nothing_to_retry(stopped):
    assert_bad_input(run("retry", stopped, "--failed"), str(stopped), "no run")
    assert_bad_input(run("retry", stopped), "--failed")


def test_a_rule_that_was_mended_is_another_one_and_nothing_moves(stopping_rules, tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_bytes(stopping_rules.read_bytes())
    folder = tmp_path / "study"
    assert run_raising(*command(mine, folder, "Raises", "dfa")).status == 1
    before = contents(folder)
    mine.write_text(mine.read_text() + "# mended\n")
    assert_bad_input(run("retry", folder, "--failed"), "mine.py:Raises changed", "new rule")
    assert contents(folder) == before
