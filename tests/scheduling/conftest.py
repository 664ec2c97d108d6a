"""Folders of small studies; what is planned in them, the tests say."""

from __future__ import annotations

from pathlib import Path

import pytest
from scheduling.small_grids import plan, study_of

from depthgauge.scheduling.grid import Grid
from depthgauge.store.plan_files import CohortPlan
from depthgauge.store.study_folder import StudyFolder


@pytest.fixture
def study(planned: Grid, tmp_path: Path) -> StudyFolder:
    return study_of(planned, tmp_path)


@pytest.fixture
def cohorts(study: StudyFolder, planned: Grid) -> list[CohortPlan]:
    return plan(study, planned)
