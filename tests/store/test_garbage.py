"""What nothing needs any more: claims on what has ended, and no others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from scheduling.small_jobs import prepare, work, write_rules
from store.claiming import ended_owner, put_claim

from depthgauge.scheduling.worker import Job
from depthgauge.store.claims import Claims
from depthgauge.store.garbage import garbage_in
from depthgauge.store.study_folder import StudyFolder

DONE = "a claim on work that is done"


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """Two cohorts, of which the first is trained."""
    job = prepare(tmp_path / "study", "bp", "dfa")
    work(replace(job, cohorts=job.cohorts[:1]))
    return job


def claim_of_the_dead(job: Job, name: str) -> Path:
    return put_claim(job.folder / "claims", name, ended_owner())


def found(job: Job) -> dict[Path, str]:
    return {one.path: one.why for one in garbage_in(job.folder, quarantined=False)}


def test_claims_on_what_is_still_to_be_trained_stay(job):
    """Somebody may take one over just now: without it, two would."""
    ended, left = (claim_of_the_dead(job, name) for name in job.cohorts)
    assert found(job) == {ended: DONE}
    assert left.exists()


def test_claims_that_were_let_go_stay_too_and_all_that_follow_them(job):
    claims = Claims(job.folder / "claims")
    for _ in range(2):
        claim = claims.take(job.cohorts[1])
        assert claim is not None
        claim.release()
    assert found(job) == {}
    work(job)
    assert list(claims.folder.iterdir()) == []


def test_a_run_that_is_left_keeps_the_claims_of_its_cohort(job):
    path = claim_of_the_dead(job, job.cohorts[0])
    study = StudyFolder(job.folder)
    run = study.plan_files.read().cohorts[job.cohorts[0]].identities[-1]
    study.paths(run).result_path.unlink()
    assert found(job) == {}
    study.paths(run).failed_path.write_text("{}")
    assert found(job) == {path: DONE}, "a run that has failed has ended"


def test_claims_on_cohorts_that_were_parted_are_leftovers(tmp_path):
    """Their halves are claimed by names of their own."""
    typed = [f"{write_rules(tmp_path)}:Picky[number={number}]" for number in (1, 13)]
    job = prepare(tmp_path / "study", *typed, ks=(2,))
    study = work(job)
    (parted,) = job.cohorts
    assert parted not in [cohort.name for cohort in study.plan_files.read().current]
    path = claim_of_the_dead(job, parted)
    assert found(job) == {path: DONE}


def test_a_claim_on_what_nobody_planned_is_a_leftover(job):
    path = claim_of_the_dead(job, "0123456789abcdef")
    assert found(job) == {path: DONE}
