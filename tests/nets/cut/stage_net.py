"""A small network of images whose blocks change the stream's channels and resolution."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

CLASSES, PIXELS, SAMPLES = 4, 6, 5


class StageBlock(nn.Module):
    """BatchNorm → ReLU → convolution, added to the stream or to a projection of it."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(inputs)
        self.conv = nn.Conv2d(inputs, outputs, 3, stride, padding=1)
        changes = inputs != outputs or stride > 1
        self.skip = nn.Conv2d(inputs, outputs, 1, stride) if changes else nn.Identity()

    def forward(self, h: Tensor) -> Tensor:
        return self.skip(h) + self.conv(relu(self.norm(h)))


class StageNet(nn.Module):
    """Two stages of two blocks each."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3, padding=1)
        self.blocks = nn.Sequential(
            StageBlock(4, 4, 1), StageBlock(4, 6, 2), StageBlock(6, 6, 1), StageBlock(6, 6, 1)
        )
        self.head = nn.Linear(6, CLASSES)

    def readout(self, h: Tensor) -> Tensor:
        return self.head(h.mean((2, 3)))

    def forward(self, images: Tensor) -> Tensor:
        return self.readout(self.blocks(self.stem(images)))


def stage_net() -> StageNet:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        return StageNet().double()


def image_batch() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(4)
    x = torch.randn(SAMPLES, 3, PIXELS, PIXELS, generator=generator, dtype=torch.float64)
    return x, torch.randint(CLASSES, (SAMPLES,), generator=generator)
