"""The linear floor of a study, which is fitted once and then read from the study's folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from depthgauge.results.floors import FLOORS, LinearFloor
from depthgauge.results.study import StudyResult
from depthgauge.store.files import write_text
from depthgauge.store.result_file import pack_answers
from depthgauge.tasks.base import Task
from depthgauge.training.linear_classifier import (
    EXACT,
    MOST_SAMPLES,
    fit_linear_classifier,
    reason_not_fitted,
)


def add_linear_floor(study: StudyResult, task: Task, say: Callable[[str], None]) -> StudyResult:
    """Return the study with its linear floor; fit and store it if the folder has none.

    Before a long fit, `say` gets a message.
    """
    if study.linear_floor is not None and study.linear_floor.task == task.config:
        return study
    samples, features = task.train.x.shape
    if samples * features > EXACT:
        say(
            f"fitting a linear classifier to {min(samples, MOST_SAMPLES):,} samples of "
            f"{features:,} features, once for this study (one or two minutes)"
        )
    floor = fit_linear_floor(task)
    write_text(study.folder / FLOORS, floor.model_dump_json(indent=2) + "\n")
    return replace(study, linear_floor=floor)


def fit_linear_floor(task: Task) -> LinearFloor:
    """Return the linear floor of a task, or the reason why the task has none."""
    if reason := reason_not_fitted(task):
        return LinearFloor(task=task.config, reason=reason)
    classifier = fit_linear_classifier(task)
    right = classifier.right_answers(task.evaluation, task)
    return LinearFloor(
        task=task.config,
        accuracy=float(right.mean()),
        penalty=classifier.penalty,
        samples=classifier.samples,
        right=pack_answers(right),
    )
