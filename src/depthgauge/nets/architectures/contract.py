"""The contract of a network of the package: its name, its options, and how it is built."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from torch import Tensor, nn
from typing_extensions import Self

from depthgauge.config_part import ConfigPart
from depthgauge.tasks.shape import TaskShape


class NetOptions(ConfigPart):
    """Options of a network: validated, documented, and part of a run's identity."""


class Network(nn.Module, ABC):
    """A network that can be built for a task: `embed` → blocks 0 … L−1 → `readout`.

    Attributes:
        name, summary: the network in lists and messages.
        Options: the options that users write in brackets.
        usual_width: the width of the stream if the user gives none.
        embed: the part before the first block.
        blocks: the blocks, each of which returns the next state of the stream.
        readout: the part after the last block.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    Options: ClassVar[type[NetOptions]] = NetOptions
    usual_width: ClassVar[int] = 64

    embed: nn.Module
    blocks: nn.ModuleList
    readout: nn.Module

    @classmethod
    @abstractmethod
    def build(cls, shape: TaskShape, width: int, depth: int, options: Any) -> Self:
        """Build the network for a task; its weights are drawn from torch's global random state.

        Args:
            shape: the samples and answers of the task.
            width: the width of the stream.
            depth: the number of blocks L, which may be 0.
            options: an instance of the class's `Options`.

        Raises:
            UserError: the samples of the task, or the options, do not fit the network.
        """

    def forward(self, samples: Tensor) -> Tensor:
        """Return the logits for a batch of images or tokens."""
        stream = self.embed(samples)
        for block in self.blocks:
            stream = block(stream)
        logits: Tensor = self.readout(stream)
        return logits

    @property
    def num_blocks(self) -> int:
        """The number of blocks L."""
        return len(self.blocks)
