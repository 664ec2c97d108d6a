"""Random crops and flips the slow way: pad, cut, mirror, one pixel after the other."""

from __future__ import annotations

import torch
from torch import Tensor

from depthgauge.tasks.base import Pixels


def crop_slowly(image: Tensor, top: int, left: int, flip: bool, pixels: Pixels) -> Tensor:
    """Pad by four zeros on every side, cut out at (top, left), mirror: pixel by pixel."""
    channels, height, width = pixels.channels, pixels.height, pixels.width
    source = image.view(channels, height, width)
    result = torch.zeros(channels, height, width, dtype=torch.uint8)
    for c in range(channels):
        for i in range(height):
            for j in range(width):
                row = top + i - 4
                column = left + (width - 1 - j if flip else j) - 4
                if 0 <= row < height and 0 <= column < width:
                    result[c, i, j] = source[c, row, column]
    return result.flatten()


def all_crops(image: Tensor, pixels: Pixels) -> set[tuple[int, ...]]:
    """Every outcome there is for one image."""
    return {
        tuple(crop_slowly(image, top, left, flip, pixels).tolist())
        for top in range(9)
        for left in range(9)
        for flip in (False, True)
    }
