"""Roughly how long a study takes on this machine: an estimate from counts, nothing is measured.

The estimate is for the line before the training begins, and may be wrong by a factor of two. Once
networks are trained, the time left follows from their own pace.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from depthgauge.errors import UserError
from depthgauge.rules.choice import choose_rule
from depthgauge.rules.contract import Rule
from depthgauge.scheduling.memory_estimate import parameters
from depthgauge.store.plan_files import CohortPlan
from depthgauge.tasks.base import Task

OPERATIONS_PER_SECOND = 6e10
"""Of one thread in matrix products, float32."""

OPERATIONS_PER_WEIGHT = 6
"""Multiplications and additions for each sample: forward, backward, gradient."""

STEP_SECONDS = 4e-4
"""A step of one run takes so long beside its products."""

LEARNING = 3.0
"""Rules that train a network of their own, or differentiate blocks, take so many times as long."""


def seconds_to_train(
    cohorts: Iterable[tuple[CohortPlan, int, Task]], processes: int, threads: int
) -> float:
    """Return about how many seconds so many open runs of these cohorts take."""
    work = sum(runs * _seconds_of_run(cohort, task, threads) for cohort, runs, task in cohorts)
    return work / max(1, processes)


def _seconds_of_run(cohort: CohortPlan, task: Task, threads: int) -> float:
    recipe = cohort.recipe
    operations = OPERATIONS_PER_WEIGHT * parameters(cohort.net, task) * len(task.train)
    steps = len(task.train) / recipe.batch_size
    seconds = operations / (threads * OPERATIONS_PER_SECOND) + STEP_SECONDS * steps
    return recipe.epochs * seconds * _factor(cohort)


def _factor(cohort: CohortPlan) -> float:
    rule = None
    with suppress(UserError):  # the worker says why the rule cannot be loaded
        rule = choose_rule(cohort.rules[0].typed).rule_class
    learns = rule is not None and (rule.learn is not Rule.learn or "blocks" in rule.needs)
    return LEARNING if learns else 1.0
