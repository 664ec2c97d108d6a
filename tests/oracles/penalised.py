"""The plain loop with a penalty on the branches: λ · mean over samples of Σ f²."""

from __future__ import annotations

from typing import Any

from oracles.plain_loop import PlainRun
from torch import Tensor
from torch.nn.functional import cross_entropy


def penalty_of(branch: Tensor) -> Tensor:
    """Mean over samples of the sum over features."""
    return branch.pow(2).sum(dim=1).mean()


class PenalisedRun(PlainRun):
    """BP minimises the penalties of all blocks end to end, a local rule each block's own."""

    strength = 0.05

    def end_to_end_loss(self, x: Tensor, y: Tensor) -> Tensor:
        h, penalty = self.net.embed(x), 0.0
        for block in self.net.blocks:
            branch = block(h)
            penalty = penalty + penalty_of(branch)
            h = self.net.add(h, branch)
        return cross_entropy(self.net.readout(h), y) + self.strength * penalty

    def block_loss(self, branch: Tensor, credit: Tensor) -> Tensor:
        return self.local_loss(branch, credit) + self.strength * penalty_of(branch)


class MeanOverFeatures(PenalisedRun):
    """A wrong one: the mean over features too."""

    def __init__(self, *arguments: Any, width: int, **options: Any) -> None:
        super().__init__(*arguments, width=width, **options)
        self.strength = PenalisedRun.strength / width
