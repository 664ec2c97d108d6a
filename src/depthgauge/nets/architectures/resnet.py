"""A pre-activation residual network of convolutions, in stages that halve the resolution."""

from __future__ import annotations

import math
from typing import Literal

from pydantic import Field
from torch import Tensor, nn
from typing_extensions import Self

from depthgauge.nets.architectures.contract import NetOptions, Network
from depthgauge.tasks.shape import TaskShape

Norm = Literal["group", "batch"]
MOST_GROUPS = 8


class ResNetOptions(NetOptions):
    """The options of `resnet`."""

    stages: int = Field(
        default=3,
        ge=1,
        description="groups of blocks; each stage after the first halves the resolution and "
        "doubles the channels",
    )
    norm: Norm = Field(default="group", description="GroupNorm (at most 8 groups), or BatchNorm")


class PreActivationBlock(nn.Module):
    """Two times norm → ReLU → 3×3 convolution, added to the shortcut; returns the stream.

    Where channels or resolution change, the shortcut is a 1×1 convolution; otherwise it is the
    identity.
    """

    def __init__(self, channels: int, out: int, stride: int, norm: Norm) -> None:
        super().__init__()
        self.norm1, self.norm2 = make_norm(norm, channels), make_norm(norm, out)
        self.conv1 = nn.Conv2d(channels, out, 3, stride=stride, padding=1, bias=False)
        self.conv2 = nn.Conv2d(out, out, 3, padding=1, bias=False)
        changes = stride > 1 or out != channels
        self.shortcut = nn.Conv2d(channels, out, 1, stride=stride, bias=False) if changes else None
        self.activation = nn.ReLU()

    def forward(self, stream: Tensor) -> Tensor:
        """Return the next state of the stream, (samples, channels, height, width)."""
        straight = stream if self.shortcut is None else self.shortcut(stream)
        branch = self.conv1(self.activation(self.norm1(stream)))
        branch = self.conv2(self.activation(self.norm2(branch)))
        following: Tensor = straight + branch
        return following


class ConvReadout(nn.Module):
    """Norm → ReLU → mean over all positions → linear layer."""

    def __init__(self, channels: int, outputs: int, norm: Norm) -> None:
        super().__init__()
        self.norm = make_norm(norm, channels)
        self.activation = nn.ReLU()
        self.head = nn.Linear(channels, outputs)

    def forward(self, stream: Tensor) -> Tensor:
        """Return logits (samples, outputs)."""
        logits: Tensor = self.head(self.activation(self.norm(stream)).mean((2, 3)))
        return logits


class ResNet(Network):
    """A pre-activation residual network: a 3×3 convolution, blocks in stages, a linear readout.

    The blocks are divided over the stages as evenly as possible, the first stages getting one
    more. The first block of every stage but the first halves the resolution and doubles the
    channels.

    Args:
        channels: the channels of an image.
        outputs: the number of logits.
        width: the channels of the first stage.
        depth: the number of blocks.
        options: stages and norm.
    """

    name = "resnet"
    summary = "a residual network for images: pre-activation blocks in stages, convolutions"
    Options = ResNetOptions
    usual_width = 16

    def __init__(
        self,
        channels: int,
        outputs: int,
        *,
        width: int = 16,
        depth: int = 4,
        options: ResNetOptions | None = None,
    ) -> None:
        super().__init__()
        options = options or ResNetOptions()
        self.embed = nn.Conv2d(channels, width, 3, padding=1, bias=False)
        self.blocks = nn.ModuleList()
        before = width
        for stage in stages_of_blocks(depth, options.stages):
            out = width * 2**stage
            stride = 2 if out != before else 1
            self.blocks.append(PreActivationBlock(before, out, stride, options.norm))
            before = out
        self.readout = ConvReadout(before, outputs, options.norm)

    @classmethod
    def build(cls, shape: TaskShape, width: int, depth: int, options: ResNetOptions) -> Self:
        """Build the network for a task whose samples are images."""
        channels = shape.image_for(cls.name)[0]
        return cls(channels, shape.outputs, width=width, depth=depth, options=options)


def stages_of_blocks(depth: int, stages: int) -> list[int]:
    """Return the stage of each block; with fewer blocks than stages, every stage has one block."""
    stages = min(stages, max(depth, 1))
    each, more = divmod(depth, stages)
    return [stage for stage in range(stages) for _ in range(each + (stage < more))]


def make_norm(norm: Norm, channels: int) -> nn.Module:
    """Return a norm over channels; the number of groups divides the channels."""
    if norm == "batch":
        return nn.BatchNorm2d(channels)
    return nn.GroupNorm(math.gcd(MOST_GROUPS, channels), channels)
