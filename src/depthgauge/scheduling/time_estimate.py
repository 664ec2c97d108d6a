"""Estimate the time that a study takes on this machine, by counting operations, not by measuring.

The line that is printed before training shows this estimate, which may be wrong by a factor of two.
During training, the time left is computed from the measured speed.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from depthgauge.config import NetConfig
from depthgauge.errors import UserError
from depthgauge.nets.probed import size_of
from depthgauge.rules.choice import choose_rule
from depthgauge.rules.contract import Rule
from depthgauge.scheduling.memory_estimate import count_weights
from depthgauge.store.plan_files import CohortPlan
from depthgauge.tasks.base import Task

OPERATIONS_PER_SECOND = 6e10
"""Floating-point operations that one thread does per second in float32 matrix products."""

OPERATIONS_PER_WEIGHT = 6
"""Operations per weight and sample: a multiplication and an addition, each done three times.

The three times are the forward pass, the backward pass and the gradient of the weights.
"""

PASSES = 9
"""Operations of a step of any network, in units of those of its forward pass.

A step has three times the products of a forward pass, and small products, norms and activations
take about three times as long as large products.
"""

BLOCK_SECONDS = 1e-3
"""Further seconds of one step for each block of a network that is not stacked."""

STEP_SECONDS = 4e-4
"""Seconds of one step of one run, without its matrix products."""

LEARNING = 3.0
"""How many times as long rules take that train a network of their own or differentiate blocks."""


def seconds_to_train(
    cohorts: Iterable[tuple[CohortPlan, int, Task]], processes: int, threads: int
) -> float:
    """Return roughly how many seconds the unfinished runs of these cohorts take.

    Each cohort comes with its number of unfinished runs and its task.
    """
    work = sum(runs * _seconds_of_run(cohort, task, threads) for cohort, runs, task in cohorts)
    return work / max(1, processes)


def _seconds_of_run(cohort: CohortPlan, task: Task, threads: int) -> float:
    recipe = cohort.recipe
    operations = _operations_per_sample(cohort.net, task) * len(task.train)
    steps = len(task.train) / recipe.batch_size
    alone = 0.0 if cohort.net.is_residual_mlp else BLOCK_SECONDS * cohort.net.blocks
    seconds = operations / (threads * OPERATIONS_PER_SECOND) + (STEP_SECONDS + alone) * steps
    return recipe.epochs * seconds * _factor(cohort)


def _operations_per_sample(net: NetConfig, task: Task) -> float:
    """Return the operations of one sample in a step: forward, backward, gradient of weights."""
    if net.is_residual_mlp:
        return OPERATIONS_PER_WEIGHT * count_weights(net, task)
    return PASSES * size_of(net, task).operations


def _factor(cohort: CohortPlan) -> float:
    rule = None
    with suppress(UserError):  # the worker says why the rule cannot be loaded
        rule = choose_rule(cohort.rules[0].typed).rule_class
    learns = rule is not None and (rule.learn is not Rule.learn or "blocks" in rule.needs)
    return LEARNING if learns else 1.0
