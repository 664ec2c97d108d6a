"""Training that is stopped and goes on from its folders ends with the same files."""

from __future__ import annotations

from pathlib import Path

import pytest
from store.small_runs_on_disk import state_bits
from training.small_runs import make_cohort, run_config
from training.stopped_runs import CASES, STEPS, Case, undisturbed

from depthgauge.store.files import finite
from depthgauge.store.recorder import StoreRecorder
from depthgauge.store.run_folder import RunFolder, load_newest
from depthgauge.training.loop import StoppedEarlyError, train_cohort
from depthgauge.training.readings import EVERY_EPOCH

NAME = "several options that draw noise"


def train_for(case: Case, runs: Path, steps: int, save_every: float) -> list[RunFolder]:
    """Go on from what is in the folders, for so many steps or to the end."""
    folders = [RunFolder(runs, run_config(run, case.setting)) for run in case.runs]
    start = load_newest(folders)
    for folder in folders:
        folder.create()
        folder.rewind(start[0].position if start else None)
    asked = iter([*[False] * (steps - 1), True])
    train_cohort(
        make_cohort(case.runs, case.setting),
        case.setting.task,
        StoreRecorder(folders),
        observers=EVERY_EPOCH,
        start=start,
        save_every=save_every,
        stop=lambda: next(asked),
    )
    return folders


@pytest.mark.parametrize("save_every", [0.0, 1e9])
def test_stopped_after_every_second_step_it_ends_with_the_same_metrics_and_states(
    tmp_path, save_every
):
    case = CASES[NAME]
    for _ in range(2):
        with pytest.raises(StoppedEarlyError):
            train_for(case, tmp_path, 2, save_every)
    folders = train_for(case, tmp_path, STEPS, save_every)
    expected = undisturbed(NAME)
    for run, folder in enumerate(folders):
        assert folder.metrics.lines() == finite(expected.of_run(run))
        found = folder.load((case.setting.recipe.epochs, 0))
        assert state_bits(found) == state_bits(expected.states[-1][run])
        assert not (folder.path / "quarantine").exists()
