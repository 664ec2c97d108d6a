"""A few tiny images; they are not square, so that a test sees swapped heights and widths."""

from __future__ import annotations

import torch
from torch import Tensor

from depthgauge.tasks.base import Pixels, Split, Task

PIXELS = Pixels(3, 6, 5, mean=(0.4914, 0.4822, 0.4465), std=(0.2470, 0.2435, 0.2616))


def random_images(count: int, pixels: Pixels = PIXELS) -> Tensor:
    """Draw images without black pixels, so that the black border can be recognised."""
    shape = (count, pixels.channels, pixels.height, pixels.width)
    generator = torch.Generator().manual_seed(5)
    return torch.randint(1, 256, shape, generator=generator, dtype=torch.uint8)


def image_task(count: int, classes: int = 5) -> Task:
    """Make a task whose evaluation images are its training images."""
    split = Split(random_images(count), torch.arange(count) % classes)
    return Task("images", split, split, classes, pixels=PIXELS)
