"""What of a study is done, running, failed and left, read off its folder."""

from __future__ import annotations

import os
import platform
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from scheduling.small_grids import RECIPE, grid, plan, study_of, train
from store.claiming import elsewhere, ended_owner, put_claim
from store.small_runs_on_disk import contents, finished, run_config, started

from depthgauge.errors import UserError
from depthgauge.scheduling.grid import Grid
from depthgauge.scheduling.study_status import FailedRun, RunningCohort, StudyStatus, status_of
from depthgauge.store.plan_files import CohortPlan
from depthgauge.store.study_folder import StudyFolder


@pytest.fixture
def planned() -> Grid:
    """Two cohorts of four runs."""
    return grid("dfa", "bp", ks=(0, 2), seeds=(1, 2))


@pytest.fixture
def study(planned: Grid, tmp_path: Path) -> StudyFolder:
    return study_of(planned, tmp_path / "study")


@pytest.fixture
def cohorts(study: StudyFolder, planned: Grid) -> list[CohortPlan]:
    return plan(study, planned)


STATES = ["finished", "diverged", "failed", "running", "stopped", "waiting"]


def counts(study: StudyFolder) -> dict[str, int]:
    """How many runs are in which state; states without runs are left out."""
    runs = status_of(study.path).runs
    assert list(runs) == STATES
    return {state: count for state, count in runs.items() if count}


def test_at_first_everything_waits(study, cohorts):
    waiting = dict.fromkeys(STATES, 0) | {"waiting": 8}
    assert status_of(study.path) == StudyStatus(str(study.path), waiting, (), (), None)


def test_a_study_without_a_plan_has_no_runs(study):
    assert counts(study) == {}


def test_what_is_trained_is_finished(study, planned, cohorts):
    train(study, grid("dfa", ks=(0, 2), seeds=(1, 2)))
    assert counts(study) == {"finished": 4, "waiting": 4}
    train(study, planned)
    assert counts(study) == {"finished": 8}


def test_looking_changes_nothing(study, cohorts):
    claim = study.claims.take(cohorts[0].name)
    assert claim is not None
    before = contents(study.path)
    status_of(study.path)
    assert contents(study.path) == before


def test_a_running_cohort_with_where_how_far_and_how_long_still(study, cohorts):
    claim = study.claims.take(cohorts[0].name)
    assert claim is not None
    claim.beat(
        {
            **{"label": "dfa", "runs": 4, "total": 6, "first": 1},
            **{"epoch": 1, "steps": 3, "seconds": 8.0},
        }
    )
    status = status_of(study.path)
    assert counts(study) == {"running": 4, "waiting": 4}
    (running,) = status.running
    assert 0 <= running.silent_for < 60
    assert replace(running, silent_for=0.0) == RunningCohort(
        cohort=cohorts[0].name,
        label="dfa",
        runs=4,
        where=f"{platform.node()}, process {os.getpid()}",
        epoch=1,
        epochs=RECIPE.epochs,
        seconds_left=8.0 * 3 / 2,
        silent_for=0.0,
    )
    # 8 epochs of this cohort take 12 seconds; 8 of this and 12 of the other one are left.
    assert status.seconds_left == pytest.approx(12.0 * (8 + 12) / 8)


def test_before_its_first_step_a_cohort_has_a_name_and_no_time(study, cohorts):
    claim = study.claims.take(cohorts[0].name)
    assert claim is not None
    status = status_of(study.path)
    (running,) = status.running
    assert (running.runs, running.epoch, running.seconds_left) == (4, 0, None)
    assert status.seconds_left is None
    assert running.label == "dfa"


def test_a_cohort_that_was_sent_to_another_machine_is_running_too(study, cohorts):
    """Its claim says how many steps have come back, and nothing about time."""
    claim = study.claims.take(cohorts[0].name)
    assert claim is not None
    claim.beat({"label": "dfa", "runs": 4, "steps": 3})
    (running,) = status_of(study.path).running
    assert (running.label, running.runs) == ("dfa", 4)
    assert running.seconds_left is None


def test_what_somebody_elsewhere_trains_is_running(study, cohorts):
    put_claim(study.claims.folder, cohorts[1].name, elsewhere())
    (running,) = status_of(study.path).running
    assert running.where.startswith("other, process ")
    assert running.cohort == cohorts[1].name


def test_what_a_dead_or_past_owner_holds_is_left(study, cohorts):
    put_claim(study.claims.folder, cohorts[0].name, ended_owner())
    claim = study.claims.take(cohorts[1].name)
    assert claim is not None
    claim.release()
    assert counts(study) == {"waiting": 8}


def test_runs_of_a_running_cohort_that_are_done_are_done(study, cohorts):
    train(study, grid("dfa", ks=(0, 2), seeds=(1, 2)))
    study.run(cohorts[0].configs[0]).result_path.unlink()
    claim = study.claims.take(cohorts[0].name)
    assert claim is not None
    assert counts(study) == {"finished": 3, "running": 1, "waiting": 4}


def test_a_run_that_failed_says_which_it_is_and_why(tmp_path):
    own = grid(ks=(0,), seeds=(5,))
    study = study_of(own, tmp_path / "study")
    plan(study, own)
    run = study.run(own.runs()[0].config)
    run.create()
    run.fail("ZeroDivisionError: the author divided by zero", "Traceback …", {})
    status = status_of(study.path)
    assert counts(study) == {"failed": 1}
    reason = "ZeroDivisionError: the author divided by zero"
    assert status.failed == (FailedRun(own.runs()[0].identity, "dfa", "0", 5, reason),)


def test_runs_of_a_cohort_that_was_halved_are_counted_once(study, cohorts):
    halves = [cohorts[0].part([0]), cohorts[0].part([1, 2, 3])]
    now = study.plan_files.read()
    study.plan_files.add(now, now.file_of(cohorts[0]).with_cohorts(halves))
    assert counts(study) == {"waiting": 8}


def test_runs_outside_the_plan_count_too(study, cohorts):
    finished(study.runs, run_config(seed=7), 0.5)
    started(study.runs, run_config(seed=8), 1)
    assert counts(study) == {"finished": 1, "stopped": 1, "waiting": 8}
    shutil.rmtree(study.plan_files.folder)
    assert counts(study) == {"finished": 1, "stopped": 1}


def test_a_folder_that_is_not_a_study_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"is not the folder of a study: it has no study\.json"):
        status_of(tmp_path)


def test_a_run_whose_loss_was_not_finite_has_diverged(study, planned, cohorts):
    train(study, planned)
    path = study.run(cohorts[0].configs[0]).result_path
    path.write_text(path.read_text().replace('"status": "finished"', '"status": "diverged"'))
    assert counts(study) == {"finished": 7, "diverged": 1}
