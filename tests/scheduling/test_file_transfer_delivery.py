"""What comes back of a cohort, once, twice or late: what is done stays as it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from scheduling.small_jobs import prepare, work
from store.small_runs_on_disk import contents

from depthgauge.scheduling.on_ray.file_transfer import Files, deliver, pack, unpack
from depthgauge.scheduling.worker import Job
from depthgauge.store.plan_files import CohortPlan
from depthgauge.store.run_paths import FAILED, METRICS, NAMES, RESULT
from depthgauge.store.study_folder import StudyFolder


@pytest.fixture
def study(tmp_path: Path) -> StudyFolder:
    """One cohort of two runs, nothing trained yet."""
    return StudyFolder(prepare(tmp_path / "study", "dfa").folder)


@pytest.fixture
def cohort(study: StudyFolder) -> CohortPlan:
    return study.plan_files.read().current[0]


def all_files(identity: str, content: bytes) -> Files:
    return {f"{identity}/{name}": content for name in NAMES}


def test_runs_that_are_done_stay_as_they_are_and_the_others_are_written(study, cohort):
    done, other = cohort.identities
    deliver(study, cohort, all_files(done, b"first"))
    before = contents(study.runs)
    deliver(study, cohort, all_files(done, b"later") | all_files(other, b"later"))
    after = contents(study.runs)
    assert {name: file for name, file in after.items() if name.startswith(done)} == before
    assert {after[f"{other}/{name}"][1] for name in NAMES} == {b"later"}


def test_what_comes_with_its_result_is_written_before_it_is_done(study, cohort):
    """The result may stand anywhere in what is sent."""
    identity = cohort.identities[0]
    deliver(study, cohort, {f"{identity}/{RESULT}": b"end", f"{identity}/{METRICS}": b"lines"})
    assert study.paths(identity).metrics_path.read_bytes() == b"lines"
    assert study.paths(identity).result_path.read_bytes() == b"end"


@pytest.mark.parametrize("name", [METRICS, FAILED])
def test_runs_that_are_not_done_take_what_is_newer(study, cohort, name):
    identity = cohort.identities[0]
    for content in (b"first", b"later"):
        deliver(study, cohort, {f"{identity}/{name}": content})
    assert (study.runs / identity / name).read_bytes() == b"later"


def test_a_delivery_that_comes_twice_changes_nothing(study, cohort, tmp_path):
    away = unpack(pack(study, cohort), tmp_path / "away")
    work(Job(away.path, (cohort.name,), "cpu", 1, 0.0, "depthgauge test"))
    files = pack(away, away.plan_files.read().current[0]).files
    deliver(study, cohort, files)
    before = contents(study.path)
    assert all(study.paths(identity).has_ended for identity in cohort.identities)
    deliver(study, cohort, files)
    assert contents(study.path) == before
