"""The contract of a network that can be trained: what rules and gauges may use of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor, nn


@dataclass(frozen=True)
class Trace:
    """One forward pass with everything that it computed.

    Attributes:
        states: h_0 … h_L, the L + 1 states of the stream.
        branches: f_0 … f_{L−1}, the outputs of the L blocks.
        logits: out_head(out_ln(h_L)).
    """

    states: tuple[Tensor, ...]
    branches: tuple[Tensor, ...]
    logits: Tensor


class ResidualNet(Protocol):
    """A network whose blocks return branches, which the network adds to the stream.

    h_0 = embed(x),   f_l = blocks[l](h_l),   h_{l+1} = h_l + f_l,   logits = readout(h_L)

    If `residual_add` is false, the network does not add: h_{l+1} = f_l.
    """

    embed: nn.Linear
    blocks: nn.ModuleList
    out_ln: nn.Module
    out_head: nn.Linear
    num_blocks: int
    residual_add: bool

    def readout(self, stream: Tensor) -> Tensor:
        """Return the logits for the last state of the stream."""
        ...

    def trace(self, x: Tensor) -> Trace:
        """Run the forward pass and return everything that rules and gauges may see."""
        ...
