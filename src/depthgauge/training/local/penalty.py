"""The penalty on the branches of a recorded forward pass: λ · mean over samples of Σ f²."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from depthgauge.nets.cut.passage import first_tensor
from depthgauge.nets.cut.recording import Recording


@dataclass(frozen=True)
class Penalty:
    """The penalty of a recipe.

    A branch is what a block adds to the stream. Where a network does not add, or a block changes
    the shape of the stream, the branch is the block's output.

    Attributes:
        strength: λ; 0 is no penalty.
        adds: whether blocks return branches, which the network adds to the stream.
        residual: whether the stream goes on beside the blocks.
    """

    strength: float
    adds: bool
    residual: bool

    def branches(self, recording: Recording) -> dict[int, Tensor]:
        """Return the branch of each block that ran, with its graph."""
        branches = {}
        for block, stream, returned in zip(
            recording.calls, recording.inputs, recording.returned, strict=True
        ):
            output = first_tensor(block, returned)
            is_change = self.residual and not self.adds and output.shape == stream.shape
            branches[block] = output - stream if is_change else output
        return branches

    def loss(self, recording: Recording, samples: int) -> Tensor | float:
        """Return the penalty of the batch, with its graph."""
        if not self.strength or not recording.calls:
            return 0.0
        sums = [branch.square().sum() for branch in self.branches(recording).values()]
        return self.strength / samples * torch.stack(sums).sum()

    def gradients(self, recording: Recording, samples: int) -> dict[int, Tensor]:
        """Return the gradient of the penalty at the branch of each block that ran."""
        if not self.strength:
            return {}
        return {
            block: 2 * self.strength / samples * branch.detach()
            for block, branch in self.branches(recording).items()
        }

    def is_at_boundary(self, recording: Recording, block: int) -> bool:
        """Return whether the gradient at the block's boundary has the gradient of its penalty."""
        return not self.adds or block == recording.calls[-1]
