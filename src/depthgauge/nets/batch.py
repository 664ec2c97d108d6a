"""Split a user's batch into inputs and labels, and call a network with the inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from depthgauge.errors import UserError, one_line

PAIR = 2


class ForwardError(UserError):
    """The network raised an error on its inputs."""


def split_batch(batch: Any) -> tuple[Any, Tensor]:
    """Return the inputs and the labels of a batch.

    A batch is a pair (inputs, labels), or a mapping with `labels` and the network's arguments.
    """
    if isinstance(batch, Mapping) and "labels" in batch:
        inputs: Any = {name: value for name, value in batch.items() if name != "labels"}
        labels = batch["labels"]
    elif isinstance(batch, tuple | list) and len(batch) == PAIR:
        inputs, labels = batch
    else:
        raise UserError("a batch must be a pair (inputs, labels), or a mapping with `labels`")
    try:
        labels = torch.as_tensor(labels)
    except (TypeError, ValueError, RuntimeError) as error:
        raise UserError("the labels of a batch are not numbers; give class numbers") from error
    if not labels.dim():
        raise UserError("the labels of a batch are a single number; give a label for each sample")
    if not len(labels):
        raise UserError("a batch is empty; give at least one sample")
    return inputs, labels


def copy_inputs(inputs: Any, device: torch.device, dtype: torch.dtype) -> Any:
    """Copy the inputs to a device; convert floating-point numbers to `dtype`."""

    def copy(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        wanted = dtype if value.is_floating_point() else value.dtype
        return value.detach().to(device, wanted, copy=True)

    if isinstance(inputs, Mapping):
        inputs = dict(inputs)
    return tree_map(copy, inputs)


def call_network(model: nn.Module, inputs: Any) -> Tensor:
    """Call a network and return its logits.

    A mapping is passed as keyword arguments, a tuple as positional arguments.
    """
    try:
        if isinstance(inputs, Mapping):
            output = model(**inputs)
        else:
            output = model(*inputs) if isinstance(inputs, tuple) else model(inputs)
    except UserError:
        raise
    except Exception as error:
        raise ForwardError(f"the network cannot take its inputs: {one_line(error)}") from error
    logits = output.logits if hasattr(output, "logits") else output
    if isinstance(logits, Mapping):
        logits = logits.get("logits")
    if isinstance(logits, tuple | list):
        logits = logits[0]
    if not isinstance(logits, Tensor):
        raise UserError(
            f"the network returns {type(output).__name__}; it must return logits, a tuple that "
            "begins with them, or an object with `.logits`"
        )
    return logits
