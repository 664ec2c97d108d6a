"""Convert stored samples into a network's inputs."""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor

from depthgauge.tasks.base import Pixels, Split, Task


def normalise_pixels(images: Tensor, pixels: Pixels, dtype: torch.dtype) -> Tensor:
    """Return (x/255 − mean)/std of flat uint8 images, with the mean and std of each channel."""
    mean, std = _mean_and_std(pixels, dtype, images.device)
    return images.to(dtype).div_(255).sub_(mean).div_(std)


@cache
def _mean_and_std(
    pixels: Pixels, dtype: torch.dtype, device: torch.device
) -> tuple[Tensor, Tensor]:
    """Return mean and std of each feature; they are cached, so they go to a GPU only once."""
    area = pixels.height * pixels.width
    mean, std = (
        torch.tensor(values, dtype=dtype, device=device).repeat_interleave(area)
        for values in (pixels.mean, pixels.std)
    )
    return mean, std


def as_inputs(
    x: Tensor, task: Task, dtype: torch.dtype, device: torch.device | str = "cpu"
) -> Tensor:
    """Convert stored samples into inputs of a network."""
    x = x.to(device)
    return x.to(dtype) if task.pixels is None else normalise_pixels(x, task.pixels, dtype)


def evaluation_inputs(task: Task, dtype: torch.dtype, device: torch.device | str = "cpu") -> Split:
    """Return the whole evaluation split as inputs of a network."""
    return Split(as_inputs(task.evaluation.x, task, dtype, device), task.evaluation.y.to(device))
