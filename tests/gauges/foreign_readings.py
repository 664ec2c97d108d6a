"""All gauges on a network from elsewhere, and the same readings by hand."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from nets.foreign_networks import Foreign, build
from oracles.foreign import read
from torch import Tensor, nn

from depthgauge.gauges.accuracy import AccuracyGauge
from depthgauge.gauges.lesion import LesionGauge
from depthgauge.gauges.measure import measure
from depthgauge.gauges.numerics import NumericsGauge
from depthgauge.gauges.reading import Reading
from depthgauge.gauges.reference import ReferenceGauge
from depthgauge.gauges.scale import ScaleGauge
from depthgauge.gauges.stability import StabilityGauge
from depthgauge.nets.batch import split_batch

Make = Callable[[], Foreign]


def measured(network: Foreign) -> dict[str, Reading]:
    gauges = {
        "scale": ScaleGauge(),
        "reference": ReferenceGauge(),
        "stability": StabilityGauge(),
        "numerics": NumericsGauge(),
        "lesion": LesionGauge(),
        "accuracy": AccuracyGauge(),
    }
    measure(network.reader(), network.batches, list(gauges.values()))
    return {name: gauge.reading() for name, gauge in gauges.items()}


@cache
def readings(make: Make, dtype: torch.dtype = torch.float32) -> dict[str, Reading]:
    """Of the network as it is built, in train mode."""
    return measured(build(make, dtype))


def one_by_one(batch: Any, dtype: torch.dtype) -> list[tuple[Any, Tensor]]:
    """The samples of a batch, each a batch of its own."""
    inputs, labels = split_batch(batch)

    def sample(value: Tensor, index: int) -> Tensor:
        one = value[index : index + 1]
        return one.to(dtype) if one.is_floating_point() else one

    def inputs_of(index: int) -> Any:
        if isinstance(inputs, dict):
            return {name: sample(value, index) for name, value in inputs.items()}
        return sample(inputs, index)

    return [(inputs_of(index), labels[index : index + 1]) for index in range(len(labels))]


def by_hand(make: Make, dtype: torch.dtype) -> dict[str, Any]:
    network = build(make, dtype)
    model = network.model.eval()
    return read(network.parts(model), [one_by_one(batch, dtype) for batch in network.batches])


def disarrange(model: nn.Module) -> nn.Module:
    """Put every third submodule into eval mode, freeze every third parameter, add gradients.

    The network also gets hooks, as if a user had registered them.
    """
    for number, module in enumerate(model.modules()):
        module.training = number % 3 != 0
    for number, parameter in enumerate(model.parameters()):
        parameter.requires_grad_(number % 3 != 0)
        parameter.grad = None if number % 2 else torch.full_like(parameter, 0.1 * number)
    model.register_forward_hook(lambda *_: None)
    model.register_forward_pre_hook(lambda *_: None)
    return model
