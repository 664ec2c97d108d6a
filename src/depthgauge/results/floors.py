"""The floors of a study: the accuracies that need no depth."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from depthgauge.config import TaskConfig
from depthgauge.errors import UserError
from depthgauge.results.audit_parts import ShallowRule
from depthgauge.results.run import RunResult
from depthgauge.results.spread import Spread
from depthgauge.scheduling.variations import SHALLOW
from depthgauge.store.files import read_json
from depthgauge.store.result_file import RightAnswers, unpack_answers
from depthgauge.verdict.paired_test import Right, Scores, compare

FLOORS = "floors.json"
"""The name of the linear floor's file in the study's folder."""

LINEAR = "linear classifier"
"""The name of the linear floor in tables, charts and sentences."""

MARGIN = 0.02
"""The accuracy, as a share, by which a rule must exceed the linear floor."""

ERROR_RATE = 0.05


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class LinearFloor(_Part):
    """A linear classifier of the standardised input, or the reason why there is none."""

    task: TaskConfig
    """The task to which it was fitted."""
    accuracy: float | None = None
    """The accuracy on the whole evaluation split."""
    penalty: float | None = None
    """λ of λ/2 · ‖weights‖², chosen on held-out training samples."""
    samples: int = 0
    """The number of training samples to which it was fitted."""
    right: RightAnswers | None = None
    """For each evaluation sample whether the classifier is right."""
    reason: str = ""
    """The reason why there is no linear classifier; empty if there is one."""


class AboveLinear(_Part):
    """The comparison of a rule, with all its blocks trained, to the linear floor."""

    accuracy: float
    """The mean over seeds; a diverged run counts with the accuracy of chance."""
    seeds: int
    p: float | None
    """The p-value of "the rule is more than 2 points above the linear floor", by a one-sided
    t test over seeds and evaluation samples; None with one seed."""
    is_shown: bool
    """Whether p is at most 5 %. With one seed: whether the accuracy is more than 2 points above
    the linear floor."""


class Floors(_Part):
    """The accuracies that a study's rules have to beat."""

    linear: LinearFloor | None = None
    shallow: ShallowRule | None = None
    """The network without blocks, trained by backpropagation with the study's recipe."""
    above_linear: dict[str, AboveLinear] = {}
    """The comparison of each rule with the linear floor, by label; controls are left out."""

    @property
    def lines(self) -> dict[str, float]:
        """Return the mean accuracy of each known floor, by its name in charts."""
        linear = self.linear.accuracy if self.linear else None
        shallow = self.shallow.accuracy.mean if self.shallow else None
        floors = {LINEAR: linear, SHALLOW: shallow}
        return {name: accuracy for name, accuracy in floors.items() if accuracy is not None}


def read_linear_floor(path: Path) -> LinearFloor | None:
    """Return the stored linear floor; None if there is no file.

    Raises:
        UserError: the file does not contain a floor of this version.
    """
    if not path.is_file():
        return None
    try:
        return LinearFloor.model_validate(read_json(path))
    except (ValidationError, UserError) as error:
        raise UserError(
            f"{path} is damaged or of another version; run `depthgauge audit` or `ladder` again to "
            "replace the file"
        ) from error


def floors_of(
    runs: Sequence[RunResult], linear: LinearFloor | None, chance: float | None
) -> Floors | None:
    """Return the floors of a study; None if the study has none."""
    shallow = [run for run in runs if run.label == SHALLOW and run.is_done]
    if linear is None and not shallow:
        return None
    above: dict[str, AboveLinear] = {}
    for label in dict.fromkeys(run.label for run in runs if run.control is None):
        own = [run for run in runs if run.label == label and run.is_full and run.is_done]
        if own and linear is not None and linear.accuracy is not None:
            above[label] = _above(own, linear, linear.accuracy, chance or 0.0)
    return Floors(
        linear=linear, shallow=shallow_of(shallow) if shallow else None, above_linear=above
    )


def shallow_of(runs: Sequence[RunResult]) -> ShallowRule:
    """Return the accuracies of runs of networks without blocks."""
    return ShallowRule(
        accuracy=Spread.of(run.accuracy for run in runs),
        accuracies={run.config.seed: run.accuracy for run in runs},
        runs={run.config.seed: run.identity for run in runs},
    )


def _above(
    runs: Sequence[RunResult], linear: LinearFloor, floor: float, chance: float
) -> AboveLinear:
    accuracies = {run.config.seed: chance if run.accuracy is None else run.accuracy for run in runs}
    mean = math.fsum(accuracies.values()) / len(accuracies)
    if len(accuracies) == 1:
        return AboveLinear(accuracy=mean, seeds=1, p=None, is_shown=mean - floor > MARGIN)
    right = None if linear.right is None else unpack_answers(linear.right)
    rule = Scores(accuracies, _right_answers(runs, right), None if right is None else len(right))
    floors = dict.fromkeys(accuracies, floor)
    classifier = Scores(floors, {} if right is None else dict.fromkeys(floors, right))
    p = compare(rule, classifier).p_above(MARGIN)
    return AboveLinear(accuracy=mean, seeds=len(accuracies), p=p, is_shown=p <= ERROR_RATE)


def _right_answers(runs: Sequence[RunResult], like: Right | None) -> Mapping[int, Right]:
    """Return, by seed, which samples each run gets right.

    Runs without stored answers are left out. A diverged run gets every sample wrong; its array has
    the shape of `like`. Without `like`, no run has an array.
    """
    answers = {
        run.config.seed: np.zeros_like(like) if run.accuracy is None else run.right_answers
        for run in runs
        if like is not None
    }
    return {seed: right for seed, right in answers.items() if right is not None}
