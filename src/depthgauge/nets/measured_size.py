"""Measure the size of any network by running it on a few samples: shapes, weights, activations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from depthgauge.nets.batch import call_network
from depthgauge.nets.preserve_state import preserve_state


@dataclass(frozen=True)
class NetworkSize:
    """The size of a network.

    Attributes:
        weights: the numbers in all parameters and buffers.
        activations: the numbers that one sample's forward pass keeps for the backward pass.
        operations: the floating-point operations of one sample's forward pass.
    """

    weights: int
    activations: int
    operations: int


def measure_size(net: nn.Module, inputs: Tensor) -> NetworkSize:
    """Return the size of a network, and leave the network as it was."""
    kept: dict[int, int] = {}
    own = {tensor.data_ptr() for tensor in (*net.parameters(), *net.buffers())}

    def keep(tensor: Tensor) -> Tensor:
        if tensor.data_ptr() not in own:
            kept[tensor.data_ptr()] = tensor.numel()
        return tensor

    counter = FlopCounterMode(display=False)
    with (
        preserve_state(net),
        counter,
        torch.autograd.graph.saved_tensors_hooks(keep, _unchanged),
    ):
        output = call_network(net, inputs)
    del output
    weights = sum(tensor.numel() for tensor in (*net.parameters(), *net.buffers()))
    samples = len(inputs)
    return NetworkSize(
        weights, -(-sum(kept.values()) // samples), -(-counter.get_total_flops() // samples)
    )


def _unchanged(tensor: Any) -> Any:
    return tensor
