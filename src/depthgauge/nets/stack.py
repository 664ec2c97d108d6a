"""A network made of three parts: embedding, blocks and readout."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch import nn


class Stack(nn.Module):
    """output = readout(blocks[L−1](… blocks[0](embed(x)))).

    Each block returns the whole stream.

    Args:
        embed: makes the stream from the inputs.
        blocks: the blocks, in the order in which they run.
        readout: makes the output from the last block's stream.
    """

    def __init__(self, embed: nn.Module, blocks: Iterable[nn.Module], readout: nn.Module) -> None:
        super().__init__()
        self.embed = embed
        self.blocks = nn.ModuleList(blocks)
        self.readout = readout

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return the output; the embedding gets all arguments."""
        stream = self.embed(*args, **kwargs)
        for block in self.blocks:
            stream = block(stream)
        return self.readout(stream)
