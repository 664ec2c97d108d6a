"""The linear floor of a study: the accuracy of a linear classifier on the study's task.

The classifier is fitted once. Later, the floor is read from the study's folder.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from depthgauge.results.floors import FLOORS, LinearFloor
from depthgauge.results.study import StudyResult
from depthgauge.store.files import write_text
from depthgauge.store.result_file import pack_answers
from depthgauge.tasks.base import Task
from depthgauge.training.classifier_rows import Rows, count_features
from depthgauge.training.linear_classifier import (
    EXACT,
    MOST_SAMPLES,
    LinearClassifier,
    fit_linear_classifier,
    reason_not_fitted,
)
from depthgauge.training.linear_regression import LinearRegression, fit_linear_regression


def add_linear_floor(study: StudyResult, task: Task, say: Callable[[str], None]) -> StudyResult:
    """Return the study with its linear floor.

    If the study has no floor for the task yet, fit the floor and write it to the study's folder.
    Before a long fit, call `say` with a message.
    """
    if study.linear_floor is not None and study.linear_floor.task == task.config:
        return study
    samples, features = len(task.train), task.input_dim
    if not task.is_regression:
        samples, features = len(Rows.of(task.train, task)), count_features(task)
    if samples * features > EXACT:
        say(
            f"fitting a linear classifier to {min(samples, MOST_SAMPLES):,} samples of "
            f"{features:,} features, once for this study (one or two minutes)"
        )
    floor = fit_linear_floor(task)
    write_text(study.folder / FLOORS, floor.model_dump_json(indent=2) + "\n")
    return replace(study, linear_floor=floor)


def fit_linear_floor(task: Task) -> LinearFloor:
    """Fit a linear classifier to the task, or a linear regression, and return its score.

    If neither can be fitted, the result holds the reason instead of an accuracy.
    """
    if reason := reason_not_fitted(task):
        return LinearFloor(task=task.config, reason=reason)
    fitted: LinearRegression | LinearClassifier
    if task.is_regression:
        fitted = fit_linear_regression(task)
        scores = fitted.scores(task.evaluation, task).numpy()
    else:
        fitted = fit_linear_classifier(task)
        scores = fitted.right_answers(task.evaluation, task)
    return LinearFloor(
        task=task.config,
        accuracy=float(scores.mean()),
        penalty=fitted.penalty,
        samples=fitted.samples,
        right=pack_answers(scores),
    )
