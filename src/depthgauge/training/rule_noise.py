"""Draw the noise that a rule uses."""

from __future__ import annotations

import torch
from torch import Tensor


def draw_noise(shape: tuple[int, ...], generator: torch.Generator, like: Tensor) -> Tensor:
    """Draw noise on the CPU, so that every device gets the same numbers, and copy it to the device.

    The copy to a GPU does not wait.
    """
    drawn = torch.randn(shape, generator=generator, pin_memory=like.is_cuda)
    return drawn.to(like.device, non_blocking=True).to(like.dtype)
