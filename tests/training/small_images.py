"""A few tiny images, not square, so that height and width cannot be mistaken for each other."""

from __future__ import annotations

import torch
from torch import Tensor

from depthgauge.tasks.base import Pixels, Split, Task

PIXELS = Pixels(3, 6, 5, mean=(0.4914, 0.4822, 0.4465), std=(0.2470, 0.2435, 0.2616))


def random_images(count: int, pixels: Pixels = PIXELS) -> Tensor:
    """Without a single black pixel, so that the border can be told from the image."""
    features = pixels.channels * pixels.height * pixels.width
    generator = torch.Generator().manual_seed(5)
    return torch.randint(1, 256, (count, features), generator=generator, dtype=torch.uint8)


def image_task(count: int, classes: int = 5) -> Task:
    """As many images to train on as to be judged by: the same ones."""
    split = Split(random_images(count), torch.arange(count) % classes)
    return Task("images", split, split, classes, pixels=PIXELS)
