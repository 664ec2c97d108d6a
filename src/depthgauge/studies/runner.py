"""Trains one cohort of a study into its folder, from where it stopped."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from depthgauge.errors import UserError
from depthgauge.gauges.cohort import read_accuracy, read_norms
from depthgauge.store.provenance import command_line, environment, peak_memory_bytes
from depthgauge.store.recorder import StoreRecorder
from depthgauge.store.run_folder import load_states, newest_common_epoch
from depthgauge.store.study_folder import StudyFolder
from depthgauge.studies.plan import PlannedCohort
from depthgauge.tasks.base import Task
from depthgauge.training.cohort import Cohort
from depthgauge.training.engine import train_cohort

EVERY_EPOCH = (read_accuracy, read_norms)
"""What is read off every run after every epoch."""


def left_to_do(study: StudyFolder, cohorts: Sequence[PlannedCohort]) -> list[PlannedCohort]:
    """The cohorts without the runs that are done already.

    Runs that were added to a cohort after it had saved its first checkpoint become a cohort of
    their own, so that the others need not begin again.
    """
    left = []
    for cohort in cohorts:
        open_runs = [run for run in cohort if study.run(run.config).result is None]
        parts = [open_runs]
        if any(study.run(run.config).saved() for run in open_runs):
            begun = [run for run in open_runs if study.run(run.config).path.exists()]
            parts = [begun, [run for run in open_runs if run not in begun]]
        left += [part for part in parts if part]
    return left


def epochs_behind(study: StudyFolder, cohort: PlannedCohort) -> int:
    """How many epochs of a cohort need not be trained again."""
    return newest_common_epoch([study.run(run.config) for run in cohort]) or 0


def train_planned(
    study: StudyFolder,
    planned: PlannedCohort,
    task: Task,
    *,
    device: str,
    save_every: float,
    on_step: Callable[[int], None],
) -> None:
    """Train a cohort to its end and write its results; `on_step` hears the run-steps done."""
    began, provenance = time.monotonic(), environment()
    if task.checksum != planned[0].config.task.checksum:
        raise UserError(f"the data of the task {task.name} changed after the study was planned")
    folders = [study.run(run.config) for run in planned]
    epoch = newest_common_epoch(folders)
    for folder in folders:
        folder.create()
        folder.rewind(epoch)
    cohort = Cohort(
        [run.config for run in planned], [run.choice.build() for run in planned], task, device
    )
    train_cohort(
        cohort,
        task,
        StoreRecorder(folders),
        observers=EVERY_EPOCH,
        start=None if epoch is None else load_states(folders, epoch),
        save_every=save_every,
        on_step=lambda steps: on_step(steps * len(planned)),
    )
    provenance |= {
        "device": device,
        "command": command_line(),
        "cohort": [folder.config.identity for folder in folders],
        "resumed_from_epoch": epoch,
        "wall_seconds": time.monotonic() - began,
        "peak_memory_bytes": peak_memory_bytes(),
    }
    for folder in folders:
        folder.finish(provenance)
