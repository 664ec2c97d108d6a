"""How far a study is, read off its folder while others train in it."""

from __future__ import annotations

import pytest
from scheduling.small_grids import (
    RECIPE,
    STEPS_PER_EPOCH,
    grid,
    train,
    train_without_claims,
)
from store.claiming import ended_owner, put_claim

from depthgauge.scheduling.grid import Grid
from depthgauge.scheduling.progress import Progress, ProgressReader
from depthgauge.store.study_folder import StudyFolder

STEPS = RECIPE.epochs * STEPS_PER_EPOCH


class Killed(BaseException):
    """Stands for a kill."""


@pytest.fixture
def planned() -> Grid:
    """Two cohorts of four runs."""
    return grid("dfa", "bp", ks=(0, 2), seeds=(1, 2))


def kill_after(steps: int, study: StudyFolder, planned: Grid) -> None:
    def on_step(_: int, done: int) -> None:
        if done == steps:
            raise Killed

    with pytest.raises(Killed):
        train_without_claims(study, planned, on_step)


def test_at_first_nothing_is_done(study, cohorts):
    assert ProgressReader(study, cohorts).read() == Progress(0, 8 * STEPS, ())


def test_while_somebody_trains_it_is_as_far_as_the_claim_says(study, cohorts):
    reader = ProgressReader(study, cohorts)
    claim = study.claims.take(cohorts[0].name)
    assert claim is not None
    assert reader.read() == Progress(0, 8 * STEPS, ())
    for steps in (2, 5):
        claim.beat({"label": "dfa", "steps": steps})
        assert reader.read() == Progress(4 * steps, 8 * STEPS, ("dfa",))
    other = study.claims.take(cohorts[1].name)
    assert other is not None
    other.beat({"label": "bp", "steps": 1})
    assert reader.read() == Progress(4 * 6, 8 * STEPS, ("dfa", "bp"))


def test_what_nobody_trains_is_as_far_as_it_was_saved(study, planned, cohorts):
    kill_after(4, study, planned)  # the state after four steps was not saved
    assert ProgressReader(study, cohorts).read() == Progress(4 * 3, 8 * STEPS, ())
    put_claim(study.claims.folder, cohorts[0].name, ended_owner())
    assert ProgressReader(study, cohorts).read() == Progress(4 * 3, 8 * STEPS, ())


def test_what_is_done_counts_whole_and_what_failed_too(study, planned, cohorts):
    train(study, grid("dfa", ks=(0, 2), seeds=(1, 2)))
    reader = ProgressReader(study, cohorts)
    assert reader.read() == Progress(4 * STEPS, 8 * STEPS, ())
    failed = study.run(cohorts[1].configs[0])
    failed.create()
    failed.fail("ValueError: no", "details", {})
    assert reader.read() == Progress(5 * STEPS, 8 * STEPS, ())


def test_of_a_cohort_in_parts_the_parts_are_counted(study, cohorts):
    reader, whole = ProgressReader(study, cohorts), cohorts[0]
    written = study.plan_files.read()
    halves = [whole.part([0, 1]), whole.part([2, 3])]
    assert study.plan_files.add(written, written.file_of(whole).with_cohorts(halves))
    claim = study.claims.take(halves[1].name)
    assert claim is not None
    claim.beat({"label": "dfa", "steps": 3})
    assert reader.read() == Progress(2 * 3, 8 * STEPS, ("dfa",))


def test_only_the_cohorts_that_were_asked_for_are_counted(study, cohorts):
    claim = study.claims.take(cohorts[0].name)
    assert claim is not None
    claim.beat({"label": "dfa", "steps": 3})
    assert ProgressReader(study, cohorts[1:]).read() == Progress(0, 4 * STEPS, ())
