"""From stored samples to what a network sees."""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor

from depthgauge.tasks.base import Pixels, Split, Task


def normalise_pixels(images: Tensor, pixels: Pixels, dtype: torch.dtype) -> Tensor:
    """(x/255 − mean)/std for each channel of flat uint8 images."""
    mean, std = _of_features(pixels, dtype, images.device)
    return images.to(dtype).div_(255).sub_(mean).div_(std)


@cache
def _of_features(pixels: Pixels, dtype: torch.dtype, device: torch.device) -> tuple[Tensor, Tensor]:
    """Mean and std of each feature; kept, since a GPU would wait for them with every batch."""
    area = pixels.height * pixels.width
    mean, std = (
        torch.tensor(values, dtype=dtype, device=device).repeat_interleave(area)
        for values in (pixels.mean, pixels.std)
    )
    return mean, std


def as_inputs(
    x: Tensor, task: Task, dtype: torch.dtype, device: torch.device | str = "cpu"
) -> Tensor:
    """Stored samples as the network sees them."""
    x = x.to(device)
    return x.to(dtype) if task.pixels is None else normalise_pixels(x, task.pixels, dtype)


def evaluation_inputs(task: Task, dtype: torch.dtype, device: torch.device | str = "cpu") -> Split:
    """The whole evaluation split, ready for the network."""
    return Split(as_inputs(task.evaluation.x, task, dtype, device), task.evaluation.y.to(device))
