"""The small convolutional network of the published record."""

from __future__ import annotations

from pydantic import Field
from torch import nn
from typing_extensions import Self

from depthgauge.errors import UserError
from depthgauge.nets.architectures.contract import NetOptions, Network
from depthgauge.tasks.shape import TaskShape


class CNNOptions(NetOptions):
    """The options of `cnn`."""

    hidden: int = Field(default=256, ge=1, description="width of the last block's linear layer")


class CNN(Network):
    """Convolutions without skip connections, then one hidden linear layer.

    h_0 = ReLU(conv(x)); each block but the last is conv → ReLU → 2×2 max-pooling and doubles the
    channels; the last block is flatten → linear → ReLU; the readout is linear. All convolutions are
    3×3 with padding 1. With images of 3×32×32 pixels, 3 blocks, width 32 and hidden 256, this is
    the network of the published record, with 2,193,226 parameters.

    Args:
        image: channels, height and width of an image.
        outputs: the number of logits.
        width: the channels of h_0.
        depth: the number of blocks.
        options: the width of the last block.
    """

    name = "cnn"
    summary = "the published record's small CNN for images (there: depth 3, width 32); no skips"
    Options = CNNOptions
    usual_width = 32

    def __init__(
        self,
        image: tuple[int, int, int],
        outputs: int,
        *,
        width: int = 32,
        depth: int = 3,
        options: CNNOptions | None = None,
    ) -> None:
        super().__init__()
        options = options or CNNOptions()
        channels, height, breadth = image
        self.embed = nn.Sequential(nn.Conv2d(channels, width, 3, padding=1), nn.ReLU())
        convolutions = max(depth - 1, 0)
        blocks: list[nn.Module] = [_conv_block(width * 2**i) for i in range(convolutions)]
        side = 2**convolutions
        if min(height, breadth) < side:
            raise UserError(
                f"the net cnn halves the resolution {convolutions} times, which is too often for "
                f"images of {height}×{breadth} pixels; choose a smaller --depth"
            )
        features = width * side * (height // side) * (breadth // side)
        if depth:
            blocks.append(
                nn.Sequential(nn.Flatten(), nn.Linear(features, options.hidden), nn.ReLU())
            )
            features = options.hidden
        self.blocks = nn.ModuleList(blocks)
        self.readout = nn.Sequential(nn.Flatten(), nn.Linear(features, outputs))

    @classmethod
    def build(cls, shape: TaskShape, width: int, depth: int, options: CNNOptions) -> Self:
        """Build the network for a task whose samples are images."""
        image, outputs = shape.image_for(cls.name), shape.outputs
        return cls(image, outputs, width=width, depth=depth, options=options)


def _conv_block(channels: int) -> nn.Sequential:
    """Return conv → ReLU → max-pooling, which doubles the channels."""
    conv = nn.Conv2d(channels, 2 * channels, 3, padding=1)
    return nn.Sequential(conv, nn.ReLU(), nn.MaxPool2d(2))
