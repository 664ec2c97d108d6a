"""Trains the cohorts of a study that are not done yet, one after the other, into its folder."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from depthgauge.errors import UserError
from depthgauge.store.provenance import command_line, environment, peak_memory_bytes
from depthgauge.store.recorder import StoreRecorder
from depthgauge.store.run_folder import newest_common_states
from depthgauge.store.study_folder import StudyFolder
from depthgauge.studies.plan import Cohort as PlannedCohort
from depthgauge.tasks.base import Task
from depthgauge.training.cohort import Cohort
from depthgauge.training.engine import train_cohort


@dataclass(frozen=True)
class Failure:
    """A cohort that could not be trained, and why."""

    labels: tuple[str, ...]
    runs: int
    reason: str


def left_to_do(study: StudyFolder, cohorts: Sequence[PlannedCohort]) -> list[PlannedCohort]:
    """The cohorts without the runs that are done already, empty ones dropped."""
    left = [[run for run in c if study.run(run.config).result is None] for c in cohorts]
    return [cohort for cohort in left if cohort]


def epochs_behind(study: StudyFolder, cohort: PlannedCohort) -> int:
    """How many epochs of a cohort need not be trained again."""
    states = newest_common_states([study.run(run.config) for run in cohort])
    return states[0].epoch if states else 0


def train_cohorts(
    study: StudyFolder,
    cohorts: Sequence[PlannedCohort],
    task: Task,
    *,
    device: str,
    save_every: float,
    on_step: Callable[[str, int], None],
) -> list[Failure]:
    """Train what is left; a cohort that raises is reported and the others go on.

    `on_step` hears the rule's label and the number of run-steps behind it.
    """
    failures = []
    for cohort in left_to_do(study, cohorts):
        labels = tuple(dict.fromkeys(run.config.rule.label for run in cohort))
        try:
            on_run_steps = partial(on_step, labels[0])
            _train(study, cohort, task, device=device, save_every=save_every, on_step=on_run_steps)
        except UserError:
            raise
        except Exception as error:
            failures.append(Failure(labels, len(cohort), f"{type(error).__name__}: {error}"))
    return failures


def _train(
    study: StudyFolder,
    planned: PlannedCohort,
    task: Task,
    *,
    device: str,
    save_every: float,
    on_step: Callable[[int], None],
) -> None:
    began = time.monotonic()
    folders = [study.run(run.config) for run in planned]
    start = newest_common_states(folders)
    for folder in folders:
        folder.create()
        folder.keep_metrics_until(start[0].epoch if start else -1)
    cohort = Cohort(
        [run.config for run in planned], [run.choice.build() for run in planned], task, device
    )
    train_cohort(
        cohort,
        task,
        StoreRecorder(folders),
        start=start,
        save_every=save_every,
        on_step=lambda steps: on_step(steps * len(planned)),
    )
    provenance = environment() | {
        "device": device,
        "command": command_line(),
        "cohort": [folder.config.identity for folder in folders],
        "resumed_from_epoch": start[0].epoch if start else None,
        "wall_seconds": time.monotonic() - began,
        "peak_memory_bytes": peak_memory_bytes(),
    }
    for folder in folders:
        folder.finish(provenance)
