"""The samples on which a network is checked: of a task, of a shape, the user's own, or guessed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from depthgauge.checks.network.guessed_batch import SAMPLES, draw_inputs, draw_labels, guess_inputs
from depthgauge.nets.batch import ForwardError, call_network, split_batch
from depthgauge.nets.preserve_state import dtype_of, preserve_state
from depthgauge.tasks.base import Task
from depthgauge.tasks.inputs import as_inputs, targets_of


@dataclass(frozen=True)
class Batch:
    """The samples on which a network is checked.

    Attributes:
        inputs: the network's inputs.
        labels: the labels or targets.
        source: where the samples come from, in words.
    """

    inputs: Any
    labels: Tensor
    source: str


def own_batch(batch: Any) -> Batch:
    """Return the user's batch: a pair (inputs, labels), or a mapping with `labels`."""
    return Batch(*split_batch(batch), "of your batch")


def batch_of_shape(model: nn.Module, shape: tuple[int, ...], words: int | None = None) -> Batch:
    """Return random samples of a shape, with labels that fit the network's output.

    Args:
        model: the network.
        shape: the shape of one sample.
        words: for tokens, the number of different ones.
    """
    inputs = draw_inputs(shape, words, dtype_of(model))
    return Batch(inputs, draw_labels(model, inputs), "drawn at random")


def batch_of_task(model: nn.Module, task: Task) -> Batch:
    """Return the first training samples of a task, flat if the network wants them flat."""
    dtype = dtype_of(model)
    inputs = as_inputs(task.train.x[:SAMPLES], task, dtype)
    labels = targets_of(task.train, dtype)[:SAMPLES]
    try:
        with preserve_state(model), torch.no_grad():
            call_network(model, inputs)
    except ForwardError:
        with preserve_state(model), torch.no_grad():
            call_network(model, inputs.flatten(1))
        inputs = inputs.flatten(1)
    return Batch(inputs, labels, f"of the task {task.name}")


def guessed_batch(model: nn.Module) -> Batch:
    """Return random samples that the network takes, guessed from its first layers."""
    inputs = guess_inputs(model)
    return Batch(inputs, draw_labels(model, inputs), "guessed from the network's first layers")
