"""What cohorts cost where measuring is not worth its time, or not possible: by their weights."""

from __future__ import annotations

import torch

from depthgauge.config import NetConfig, Recipe, RunConfig
from depthgauge.gauges.cohort import CHUNK
from depthgauge.studies.footprint import Footprint, Held
from depthgauge.studies.pace import Pace
from depthgauge.studies.plan import RunKind
from depthgauge.tasks.base import Task
from depthgauge.training.cohort import DTYPES

CORE_FLOPS = 2e10
"""What a core does in a second, about."""

FIXED = 2.0
"""What a step costs whatever the cohort, in runs; measured on the embedded task."""

FASTER = 0.45
"""n threads are n to this power as fast as one; measured on the embedded task."""


def assumed_pace(kind: RunKind | RunConfig, task: Task, threads: int) -> Pace:
    """Of cohorts of one kind, with so many threads."""
    flops = 6.0 * parameters(kind.net, task) * kind.recipe.batch_size
    run = flops / CORE_FLOPS / threads**FASTER
    return Pace(FIXED * run, run)


def assumed_footprint(net: NetConfig, recipe: Recipe, task: Task) -> Footprint:
    """Weights, gradients and moments, the network drawn first, and activations while it is read."""
    item = torch.finfo(DTYPES[recipe.dtype]).bits // 8
    held = 7.5 * (net.blocks + 1) * max(net.width, net.hidden or 0) * CHUNK
    data = len(task.evaluation) * task.input_dim
    return Footprint((Held(item * data, 0, item * (5 * parameters(net, task) + held), 0),))


def parameters(net: NetConfig, task: Task) -> int:
    """The weights of a network's matrices."""
    blocks = 2 * net.blocks * net.width * (net.hidden or net.width)
    return net.width * (task.input_dim + task.num_classes) + blocks
