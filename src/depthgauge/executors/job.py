"""What an executor is asked to do, in a form that can be sent to another process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from depthgauge.config import RunConfig
from depthgauge.errors import UserError, one_line
from depthgauge.rules.choice import choose_rule
from depthgauge.store.study_folder import StudyFolder
from depthgauge.studies.plan import PlannedCohort, PlannedRun
from depthgauge.studies.runner import train_planned
from depthgauge.tasks.base import Task
from depthgauge.tasks.registry import load_task

OnStep = Callable[[str, int], None]
"""Hears a rule's label and how many run-steps it has just done."""


FEW_LABELS = 2
"""So many are named one by one."""


@dataclass(frozen=True)
class Job:
    """The parts of a study that all its cohorts share."""

    folder: Path
    task: str
    validation: int
    device: str
    threads: int
    save_every: float

    def load_task(self) -> Task:
        """The task, from its name."""
        return load_task(self.task, self.validation)


@dataclass(frozen=True)
class Failure:
    """A cohort that could not be trained, and why."""

    label: str
    runs: int
    reason: str


def label_of(cohort: PlannedCohort) -> str:
    """What a cohort is called in progress bars and messages."""
    labels = list(dict.fromkeys(run.config.rule.label for run in cohort))
    if len(labels) > FEW_LABELS:
        return f"{cohort[0].config.rule.name} at {len(labels)} settings"
    return ", ".join(labels)


def train_or_explain(
    job: Job, cohort: PlannedCohort, task: Task, on_step: OnStep
) -> Failure | None:
    """Train a cohort; what goes wrong inside it becomes a sentence, so that others go on."""
    label = label_of(cohort)
    try:
        train_planned(
            StudyFolder(job.folder),
            cohort,
            task,
            device=job.device,
            save_every=job.save_every,
            on_step=lambda run_steps: on_step(label, run_steps),
        )
    except Exception as error:
        return Failure(label, len(cohort), reason_of(error))
    return None


def reason_of(error: Exception) -> str:
    """Why a cohort failed, on one line."""
    return str(error) if isinstance(error, UserError) else one_line(error)


Parcel = list[tuple[str, str]]
"""A cohort to be sent: for each run its configuration as JSON and its rule as it was typed."""


def pack(cohort: PlannedCohort) -> Parcel:
    """A cohort as plain texts: a rule from a user's file cannot be sent as a class."""
    return [(run.config.model_dump_json(), run.choice.text) for run in cohort]


def unpack(parcel: Sequence[tuple[str, str]]) -> PlannedCohort:
    """The cohort again, on the other side, where the rules must still be the same."""
    cohort = [
        PlannedRun(RunConfig.model_validate_json(config), choose_rule(rule))
        for config, rule in parcel
    ]
    for run in cohort:
        if run.choice.source != run.config.rule.source:
            raise UserError(f"the rule {run.choice.text} changed after the study was planned")
    return cohort
