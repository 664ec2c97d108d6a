"""Crop and flip batches of images at random."""

from __future__ import annotations

import torch
from torch import Tensor

from depthgauge.tasks.base import Pixels

PADDING = 4


class CropAndFlip:
    """Pads images by 4 black pixels, crops at a random place, flips left to right half of the time.

    Images are bytes that have not been normalised. There are (2·4 + 1)²·2 outcomes: each place of
    the crop, flipped or not. A table says for each outcome from which pixel every new pixel is
    copied, so a batch needs one lookup. The pixel number `features`, which comes after the last
    pixel of the image, is black.

    Args:
        pixels: the shape of the images.
        device: the device of the images.
    """

    def __init__(self, pixels: Pixels, device: torch.device | str = "cpu") -> None:
        channels, height, width = pixels.channels, pixels.height, pixels.width
        features = channels * height * width
        source = torch.arange(features).view(channels, height, width)
        padded = torch.nn.functional.pad(source, (PADDING,) * 4, value=features)
        self.shifts = 2 * PADDING + 1
        crops = [
            padded[:, top : top + height, left : left + width]
            for top in range(self.shifts)
            for left in range(self.shifts)
        ]
        straight = torch.stack(crops)
        both = torch.stack([straight, straight.flip(-1)], 1)
        self.table = both.reshape(-1, features).to(device)

    def draw(self, samples: int, generator: torch.Generator) -> Tensor:
        """Draw one outcome for each sample: a row number of the table."""
        return torch.randint(len(self.table), (samples,), generator=generator)

    def apply(self, images: Tensor, outcomes: Tensor) -> Tensor:
        """Return the images, cropped and flipped, in the shape they had.

        `outcomes` has for each image the number of its crop and flip, a row of `table`.
        """
        bordered = torch.nn.functional.pad(images.flatten(1), (0, 1))
        return bordered.gather(1, self.table.index_select(0, outcomes)).view(images.shape)
