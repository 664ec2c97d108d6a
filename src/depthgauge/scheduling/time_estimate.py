"""Estimate the time that a study takes on this machine, from counts, without measuring.

The estimate is for the line before the training begins, and may be wrong by a factor of two. During
training, the time left is computed from the speed of the training.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from depthgauge.errors import UserError
from depthgauge.rules.choice import choose_rule
from depthgauge.rules.contract import Rule
from depthgauge.scheduling.memory_estimate import count_weights
from depthgauge.store.plan_files import CohortPlan
from depthgauge.tasks.base import Task

OPERATIONS_PER_SECOND = 6e10
"""Floating-point operations per second of one thread in float32 matrix products."""

OPERATIONS_PER_WEIGHT = 6
"""Operations per weight and sample: a multiplication and an addition, three times.

These are the forward pass, the backward pass and the gradient.
"""

STEP_SECONDS = 4e-4
"""Seconds that a step of one run takes besides its matrix products."""

LEARNING = 3.0
"""The factor for rules that train a network of their own, or differentiate blocks."""


def seconds_to_train(
    cohorts: Iterable[tuple[CohortPlan, int, Task]], processes: int, threads: int
) -> float:
    """Return roughly how many seconds the open runs of these cohorts take.

    Each cohort comes with its number of open runs and its task.
    """
    work = sum(runs * _seconds_of_run(cohort, task, threads) for cohort, runs, task in cohorts)
    return work / max(1, processes)


def _seconds_of_run(cohort: CohortPlan, task: Task, threads: int) -> float:
    recipe = cohort.recipe
    operations = OPERATIONS_PER_WEIGHT * count_weights(cohort.net, task) * len(task.train)
    steps = len(task.train) / recipe.batch_size
    seconds = operations / (threads * OPERATIONS_PER_SECOND) + STEP_SECONDS * steps
    return recipe.epochs * seconds * _factor(cohort)


def _factor(cohort: CohortPlan) -> float:
    rule = None
    with suppress(UserError):  # the worker says why the rule cannot be loaded
        rule = choose_rule(cohort.rules[0].typed).rule_class
    learns = rule is not None and (rule.learn is not Rule.learn or "blocks" in rule.needs)
    return LEARNING if learns else 1.0
