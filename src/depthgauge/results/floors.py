"""The floors of a study: what needs no depth at all."""

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
"""The linear floor, in the study's folder: it is fitted once."""

LINEAR = "linear classifier"
"""What tables, charts and words call the linear floor."""

MARGIN = 0.02
"""By so much a rule must beat the linear floor."""

ERROR_RATE = 0.05


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class LinearFloor(_Part):
    """A linear classifier of the standardised input, or why there is none."""

    task: TaskConfig
    """What it was fitted to and read on."""
    accuracy: float | None = None
    """On the whole evaluation split."""
    penalty: float | None = None
    """λ of λ/2 · ‖weights‖², chosen on held-out training samples."""
    samples: int = 0
    """How many training samples it was fitted to."""
    right: RightAnswers | None = None
    """Which evaluation samples it names rightly."""
    reason: str = ""
    """Why there is none, where there is none."""


class AboveLinear(_Part):
    """How far a rule with all its blocks trained is above the linear floor."""

    accuracy: float
    """Mean over seeds; a diverged run counts with chance."""
    seeds: int
    p: float | None
    """Of "it is more than 2 points above": one-sided t, over seeds and evaluation samples; None
    with one seed."""
    is_shown: bool
    """Whether that is shown at 5 %; with one seed, whether its accuracy is."""


class Floors(_Part):
    """What a study's rules have to beat."""

    linear: LinearFloor | None = None
    shallow: ShallowRule | None = None
    """The network without blocks, trained by backpropagation with the study's recipe."""
    above_linear: dict[str, AboveLinear] = {}
    """By label, of the rules that are no controls."""

    @property
    def lines(self) -> dict[str, float]:
        """The mean accuracy of each floor that is known, by what charts call it."""
        linear = self.linear.accuracy if self.linear else None
        shallow = self.shallow.accuracy.mean if self.shallow else None
        found = {LINEAR: linear, SHALLOW: shallow}
        return {name: accuracy for name, accuracy in found.items() if accuracy is not None}


def read_linear_floor(path: Path) -> LinearFloor | None:
    """Return the linear floor that was stored; None where there is none.

    Raises:
        UserError: the file is none of this version.
    """
    if not path.is_file():
        return None
    try:
        return LinearFloor.model_validate(read_json(path))
    except (ValidationError, UserError) as error:
        raise UserError(
            f"{path} is not a floor of this version; the next audit or ladder fits it again"
        ) from error


def floors_of(
    runs: Sequence[RunResult], linear: LinearFloor | None, chance: float | None
) -> Floors | None:
    """Return the floors of a study, as far as they are there."""
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
    """Return the accuracies of a rule's runs without blocks."""
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
    named = None if linear.right is None else unpack_answers(linear.right)
    rule = Scores(accuracies, _right_answers(runs, named), None if named is None else len(named))
    floors = dict.fromkeys(accuracies, floor)
    beside = Scores(floors, {} if named is None else dict.fromkeys(floors, named))
    p = compare(rule, beside).p_above(MARGIN)
    return AboveLinear(accuracy=mean, seeds=len(accuracies), p=p, is_shown=p <= ERROR_RATE)


def _right_answers(runs: Sequence[RunResult], like: Right | None) -> Mapping[int, Right]:
    """Return what each run names rightly, where it is known; a diverged one names nothing."""
    found = {
        run.config.seed: np.zeros_like(like) if run.accuracy is None else run.right_answers
        for run in runs
        if like is not None
    }
    return {seed: right for seed, right in found.items() if right is not None}
