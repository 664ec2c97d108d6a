"""Networks made to be diagnosed: healthy, overflowing, faint, or impossible to copy."""

from __future__ import annotations

from typing import Any

import torch
from gauges.small_networks import Batch, make_batches, make_net
from torch import Tensor, nn

from depthgauge.nets.residual_mlp import ResidualMLP

BLOCKS = 3
LARGEST = torch.finfo(torch.float32).max


def shown(count: int = 9, size: int = 8) -> list[Batch]:
    """Enough batches for every gauge."""
    return make_batches(*[size] * count)


def overflowing(block: int, part: str = "fc2") -> ResidualMLP:
    """Finite weights, but the stream leaves the range of float32 at this block.

    Through `fc2` it becomes huge or infinite first, through `ln` it is NaN at once.
    """
    net = make_net(blocks=BLOCKS)
    with torch.no_grad():
        layer = getattr(net.blocks[block], part)
        layer.weight.copy_(LARGEST * layer.weight.sign())
    return net


def faint(dtype: torch.dtype) -> ResidualMLP:
    """Gradients of about 1e-10, which float16 does not have; everything else is of usual size."""
    net = make_net(blocks=BLOCKS)
    with torch.no_grad():
        net.out_ln.weight.mul_(1e-5)
        net.out_head.weight.mul_(1e-5)
    return net.to(dtype)


class Uncopyable(nn.Module):
    """A network that holds something of which there can be no second one."""

    def __init__(self, net: ResidualMLP, complaint: str = "there is only one lock") -> None:
        super().__init__()
        self.net, self.complaint = net, complaint

    @property
    def blocks(self) -> nn.ModuleList:
        return self.net.blocks

    def forward(self, x: Tensor) -> Tensor:
        return self.net(x)

    def __deepcopy__(self, memo: dict[int, Any]) -> Uncopyable:
        raise TypeError(self.complaint)
