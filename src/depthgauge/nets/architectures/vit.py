"""A vision transformer: patches of an image as positions of the stream."""

from __future__ import annotations

from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn
from typing_extensions import Self

from depthgauge.errors import UserError
from depthgauge.nets.architectures.contract import Network
from depthgauge.nets.architectures.transformer import (
    TransformerBlock,
    TransformerOptions,
    check_heads,
)
from depthgauge.tasks.shape import TaskShape

Pool = Literal["cls", "mean"]


class ViTOptions(TransformerOptions):
    """The options of `vit`."""

    patch: int = Field(
        default=4, ge=1, description="side of a patch in pixels; it divides the image's sides"
    )
    pool: Pool = Field(
        default="cls", description="read a class token, or the mean over all patches"
    )


class PatchEmbedding(nn.Module):
    """h_0 = a linear map of each patch + the position's embedding; first a class token, if any."""

    def __init__(
        self, image: tuple[int, int, int], width: int, patch: int, *, class_token: bool
    ) -> None:
        super().__init__()
        channels, height, breadth = image
        patches = (height // patch) * (breadth // patch)
        self.patches = nn.Conv2d(channels, width, patch, stride=patch)
        self.token = nn.Parameter(torch.randn(1, 1, width)) if class_token else None
        self.position = nn.Parameter(torch.randn(1, patches + class_token, width))

    def forward(self, images: Tensor) -> Tensor:
        """Return (samples, positions, width) for images (samples, channels, height, width)."""
        stream: Tensor = self.patches(images).flatten(2).transpose(1, 2)
        if self.token is not None:
            stream = torch.cat([self.token.expand(len(stream), -1, -1), stream], 1)
        return stream + self.position


class PooledReadout(nn.Module):
    """LayerNorm, then a linear layer on the class token or on the mean over positions."""

    def __init__(self, width: int, outputs: int, pool: Pool) -> None:
        super().__init__()
        self.pool = pool
        self.ln = nn.LayerNorm(width)
        self.head = nn.Linear(width, outputs)

    def forward(self, stream: Tensor) -> Tensor:
        """Return logits (samples, outputs)."""
        read = self.ln(stream[:, 0]) if self.pool == "cls" else self.ln(stream).mean(1)
        logits: Tensor = self.head(read)
        return logits


class ViT(Network):
    """A vision transformer with pre-norm blocks.

    Args:
        image: channels, height and width of an image.
        outputs: the number of logits.
        width: the width of the stream.
        depth: the number of blocks.
        options: patch, pooling, heads, width of the blocks' inner layer, dropout, attention.
    """

    name = "vit"
    summary = "a vision transformer for images: patches, pre-norm blocks, class token or mean"
    Options = ViTOptions

    def __init__(
        self,
        image: tuple[int, int, int],
        outputs: int,
        *,
        width: int = 64,
        depth: int = 4,
        options: ViTOptions | None = None,
    ) -> None:
        super().__init__()
        options = options or ViTOptions()
        check_heads(self.name, width, options.heads)
        _check_patch(image, options.patch)
        self.embed = PatchEmbedding(image, width, options.patch, class_token=options.pool == "cls")
        self.blocks = nn.ModuleList(
            TransformerBlock(width, options, causal=False) for _ in range(depth)
        )
        self.readout = PooledReadout(width, outputs, options.pool)

    @classmethod
    def build(cls, shape: TaskShape, width: int, depth: int, options: ViTOptions) -> Self:
        """Build the network for a task whose samples are images."""
        image, outputs = shape.image_for(cls.name), shape.outputs
        return cls(image, outputs, width=width, depth=depth, options=options)


def _check_patch(image: tuple[int, int, int], patch: int) -> None:
    _, height, width = image
    if height % patch or width % patch:
        sides = [side for side in range(1, min(height, width) + 1) if not (height % side)]
        fitting = [side for side in sides if width % side == 0]
        raise UserError(
            f"patches of {patch}×{patch} pixels do not tile images of {height}×{width} pixels; "
            f"choose vit[patch=…] from {', '.join(map(str, fitting))}"
        )
