"""The optimizer of one network, with a learning rate for each of its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import nn

from depthgauge.recipe import Recipe
from depthgauge.training.optimizer import Optimizer, Part

Owners = Mapping[str, Sequence[str]]
"""For each parameter the names of the credits that it follows, as a probe finds them."""


class RunOptimizer(Optimizer):
    """The optimizer of a network's parameters that are trained.

    Args:
        net: the network.
        blocks: its blocks.
        recipe: the recipe.
        owners: what the parameters outside the blocks follow, if a probe has found it.
    """

    def __init__(
        self,
        net: nn.Module,
        blocks: Sequence[nn.Module],
        recipe: Recipe,
        owners: Owners | None = None,
    ) -> None:
        self._trained = {
            name: parameter for name, parameter in net.named_parameters() if parameter.requires_grad
        }
        super().__init__(self._trained, parts_of(net, blocks, owners or {}), recipe)

    def zero_grad(self) -> None:
        """Drop the gradients of the last step."""
        for parameter in self._trained.values():
            parameter.grad = None

    def step(self) -> None:
        """Update every parameter that has a gradient."""
        self.update({n: own.grad for n, own in self._trained.items() if own.grad is not None})


def parts_of(net: nn.Module, blocks: Sequence[nn.Module], owners: Owners) -> dict[str, Part]:
    """Return the part of each parameter: embedding, blocks or readout.

    A module between two blocks belongs to the blocks, since it follows the credit of a block. A
    weight that is tied to the embedding, such as an output layer that shares it, belongs to the
    embedding. Without owners, as in `ResidualMLP`, the embedding is the module `embed`.
    """
    in_blocks = {id(parameter) for block in blocks for parameter in block.parameters()}
    parts: dict[str, Part] = {}
    for name, parameter in net.named_parameters():
        own = owners.get(name, ["below the blocks"] if name.startswith("embed.") else ["loss"])
        if id(parameter) in in_blocks or any(owner.startswith("block ") for owner in own):
            parts[name] = "blocks"
        else:
            parts[name] = "embedding" if "below the blocks" in own else "readout"
    return parts
