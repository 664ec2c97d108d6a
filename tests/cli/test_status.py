"""`depthgauge status`: what of a study is done, running, failed and left."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cli.commands import assert_bad_input, run
from cli.stopped_studies import EPOCHS, command, run_raising
from store.claiming import elsewhere, put_claim

from depthgauge.store.claims import ClaimFile
from depthgauge.store.plan_files import PlanFiles


def first_cohort(study: Path) -> str:
    return PlanFiles(study / "plan").read().current[0].name


def put_running(study: Path, **progress: object) -> Path:
    """A cohort that somebody elsewhere trains."""
    path = put_claim(study / "claims", first_cohort(study), elsewhere())
    content = ClaimFile.model_validate_json(path.read_text())
    path.write_text(content.model_copy(update={"progress": progress}).model_dump_json())
    return path


def test_a_finished_study_in_one_line(study):
    done = run("status", study)
    assert (done.status, done.err) == (0, "")
    assert done.out == "12 runs: 12 finished\n"


def test_as_one_json_document(study):
    document = run("status", study, "--json").document
    assert document["study"] == str(study)
    assert {state for state, count in document["runs"].items() if count} == {"finished"}
    assert document["runs"]["finished"] == 12


def test_a_stopped_study_has_runs_left(stopped):
    assert run("status", stopped).out == "2 runs: 2 stopped\n"


def test_what_is_running_with_where_epoch_and_time_left(stopped):
    owner = elsewhere()
    progress = {"label": "stops", "runs": 2, "total": 9, "first": 1, "steps": 5, "epoch": 1}
    put_running(stopped, **progress, seconds=300.0)
    first, running, left = run("status", stopped).out.splitlines()
    assert first == "2 runs: 2 running"
    assert running == (
        f"running  stops (2 runs) on other, process {owner.pid}: epoch 1 of {EPOCHS}, 5 min left"
    )
    assert left == "about 5 min left at the present speed"


def test_a_long_silence_is_remarked_on(stopped):
    path = put_running(stopped, label="stops")
    os.utime(path, (path.stat().st_atime, path.stat().st_mtime - 600))
    assert run("status", stopped).out.splitlines()[1].endswith(", no sign of life for 10 min")


def test_what_failed_with_its_reason_and_how_to_try_again(stopping_rules, tmp_path):
    folder = tmp_path / "study"
    assert run_raising(*command(stopping_rules, folder, "Raises", "dfa")).status == 1
    lines = run("status", folder).out.splitlines()
    assert lines[0] == "4 runs: 2 finished, 2 failed"
    runs = {path.parent.name for path in folder.glob("runs/*/failed.json")}
    for line, k in zip(lines[1:3], (1, 0), strict=True):
        why = "ZeroDivisionError: the author divided by zero"
        assert line.startswith(f"failed   raises k={k} seed=1: {why}  ({folder}/runs/")
    assert {line.rpartition("/")[2].rstrip(")") for line in lines[1:3]} == runs
    assert lines[3:] == [f"`depthgauge retry {folder} --failed` trains the failed runs again"]


@pytest.mark.parametrize("name", ["nothing", "runs"])
def test_not_a_study(study, name):
    assert_bad_input(run("status", study / name), str(study / name), "study.json")


def test_a_damaged_study_is_not_said_to_be_well(study):
    (study / "study.json").write_text("{")
    assert_bad_input(run("status", study), str(study / "study.json"), "cannot be read")
