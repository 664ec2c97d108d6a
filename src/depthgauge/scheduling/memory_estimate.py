"""Estimate, by counting arrays, the memory that a process needs at most to train a cohort.

A run holds its weights, their gradients, two moments of the optimizer, and the initial weights. In
addition it holds the activations of one batch. This is the batch in training or the batch on which
gauges measure, whichever is larger. A rule that differentiates parts of the network, or trains
networks of its own, holds several times as much.

`tests/scheduling/test_memory_estimate.py` compares the estimate with the memory of real processes.
"""

from __future__ import annotations

from contextlib import suppress

import torch

from depthgauge.config import NetConfig, Recipe
from depthgauge.errors import UserError
from depthgauge.gauges.norms import BATCH_READ
from depthgauge.nets.probed import size_of
from depthgauge.rules.choice import choose_rule
from depthgauge.rules.contract import Rule
from depthgauge.store.plan_files import CohortPlan
from depthgauge.tasks.base import Task
from depthgauge.training.precision import DTYPES

PROCESS = 4.0e8
"""Bytes of a process that has imported its modules, but holds no data and no networks."""

COMPILER = 1e8
"""Bytes of PyTorch's compiler, which the first gradient of `torch.func` loads.

The probe of a network of another kind than ResidualMLP takes such gradients.
"""

MARGIN = 1.15
"""A factor on the estimate, for gaps between tensors and temporary memory of operations."""

COPIES_OF_WEIGHTS = 5
"""Arrays of the size of the weights that a run holds."""

COPIES_IN_CHECKPOINT = 6
"""Arrays of the size of the weights in a checkpoint: weights and moments, as tensors and bytes."""

ACTIVATIONS_PER_BLOCK = 7
"""Arrays of (samples, width) that a block holds."""

DIFFERENTIATED_PER_BLOCK = 9
"""Further arrays of (samples, width) that a block holds if the rule differentiates it."""

PASSES, DIFFERENTIATED_PASSES = 3.0, 2.0
"""Activations of a network of any kind, in units of those of one forward pass.

Besides the pass itself there are the gradients on their way back, the states and their credit. A
rule that differentiates blocks runs them again.
"""

LEARNING, LEARNING_PER_BLOCK, LEARNING_WIDTH = 20, 32, 256
"""A rule that trains its own network holds 20 + 32 per block arrays of (samples, 256 or more)."""


def cohort_bytes(
    net: NetConfig, recipe: Recipe, rule: type[Rule] | None, task: Task, runs: int
) -> float:
    """Return the bytes of a cohort's tensors; without a `rule`, assume the most costly rule."""
    item = torch.finfo(DTYPES[recipe.dtype]).bits // 8
    if not net.is_residual_mlp:
        return item * runs * _numbers_of_network(net, recipe, rule, task)
    differentiates = rule is None or bool(rule.needs & {"readout", "blocks"})
    learns = rule is None or rule.learn is not Rule.learn
    wide, layers = max(net.width, net.hidden or 0), net.blocks + 1
    per_layer = ACTIVATIONS_PER_BLOCK + DIFFERENTIATED_PER_BLOCK * differentiates
    run = COPIES_OF_WEIGHTS * count_weights(net, task)
    run += per_layer * layers * wide * max(recipe.batch_size, BATCH_READ)
    if learns:
        arrays = LEARNING + LEARNING_PER_BLOCK * net.blocks
        run += arrays * recipe.batch_size * max(wide, LEARNING_WIDTH)
    checkpoint = COPIES_IN_CHECKPOINT * count_weights(net, task)
    read = (len(task.evaluation) + recipe.batch_size * runs) * task.input_dim
    return MARGIN * item * (runs * run + checkpoint + read)


def _numbers_of_network(
    net: NetConfig, recipe: Recipe, rule: type[Rule] | None, task: Task
) -> float:
    """Return the numbers in the tensors of one run of any network, measured on few samples."""
    size, batch = size_of(net, task), max(recipe.batch_size, BATCH_READ)
    passes = PASSES + DIFFERENTIATED_PASSES * (rule is None or "blocks" in rule.needs)
    weights = (COPIES_OF_WEIGHTS + COPIES_IN_CHECKPOINT) * size.weights
    read = (len(task.evaluation) + batch) * task.train.x[0].numel()
    return MARGIN * (weights + passes * size.activations * batch + read)


def process_bytes(
    net: NetConfig, recipe: Recipe, rule: type[Rule] | None, task: Task, runs: int
) -> float:
    """Return the bytes of a whole process that trains a cohort on the CPU."""
    data = sum(
        array.nbytes for split in (task.train, task.evaluation) for array in (split.x, split.y)
    )
    differentiates = rule is None or bool(rule.needs & {"readout", "blocks"})
    compiler = COMPILER * (differentiates or not net.is_residual_mlp)
    return PROCESS + compiler + 2 * data + cohort_bytes(net, recipe, rule, task, runs)


def planned_bytes(cohort: CohortPlan, task: Task) -> int:
    """Return the bytes of a process that trains a cohort of the plan."""
    rule = None
    with suppress(UserError):  # if the rule cannot be loaded, the worker says so
        rule = choose_rule(cohort.rules[0].typed).rule_class
    return round(process_bytes(cohort.net, cohort.recipe, rule, task, len(cohort.runs)))


def count_weights(net: NetConfig, task: Task) -> int:
    """Return the number of weights in all matrices of a network."""
    if not net.is_residual_mlp:
        return size_of(net, task).weights
    blocks = 2 * net.blocks * net.width * (net.hidden or net.width)
    return net.width * (task.input_dim + task.num_classes) + blocks
