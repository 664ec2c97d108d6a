"""Convert stored samples into a network's inputs."""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor

from depthgauge.tasks.base import Pixels, Split, Task


def normalise_pixels(images: Tensor, pixels: Pixels, dtype: torch.dtype) -> Tensor:
    """Return (x/255 − mean)/std of uint8 images, with the mean and std of each channel."""
    mean, std = _mean_and_std(pixels, dtype, images.device)
    return images.to(dtype).div_(255).sub_(mean).div_(std)


@cache
def _mean_and_std(
    pixels: Pixels, dtype: torch.dtype, device: torch.device
) -> tuple[Tensor, Tensor]:
    """Return mean and std of each channel; they are cached, so they go to a GPU only once."""
    mean, std = (
        torch.tensor(values, dtype=dtype, device=device).view(-1, 1, 1)
        for values in (pixels.mean, pixels.std)
    )
    return mean, std


def as_inputs(
    x: Tensor, task: Task, dtype: torch.dtype, device: torch.device | str = "cpu"
) -> Tensor:
    """Convert stored samples into inputs of a network, in their own shape; tokens stay whole."""
    x = x.to(device)
    if task.pixels is not None:
        return normalise_pixels(x, task.pixels, dtype)
    return x if x.dtype == torch.int64 else x.to(dtype)


def targets_of(split: Split, dtype: torch.dtype) -> Tensor:
    """Return a split's targets: real ones in the precision of training, classes as they are."""
    return split.y.to(dtype) if split.y.is_floating_point() else split.y


def evaluation_inputs(task: Task, dtype: torch.dtype, device: torch.device | str = "cpu") -> Split:
    """Return the whole evaluation split as inputs of a network."""
    inputs = as_inputs(task.evaluation.x, task, dtype, device)
    return Split(inputs, targets_of(task.evaluation, dtype).to(device))
