"""Squared error: of real targets, or of class numbers as one-hot vectors."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from depthgauge.losses.checks import check_classes, check_numbers
from depthgauge.losses.contract import Loss, in_full_precision
from depthgauge.losses.labels import IGNORED


class SquaredError(Loss):
    """½‖output − target‖² of each sample, so that the error is output − target.

    Class numbers become one-hot vectors. Labels of −100 do not count.
    """

    name = "squared_error"
    summary = "½‖output − target‖²; class numbers become one-hot vectors"

    def value(self, output: Tensor, target: Tensor) -> Tensor:
        """Return half the squared distance of each sample's output from its target."""
        return 0.5 * _apart(in_full_precision(output), target).square().flatten(1).sum(1)

    def error(self, output: Tensor, target: Tensor) -> Tensor:
        """Return e = output − target."""
        return _apart(output, target)

    def check(self, shape: Sequence[int], target: Tensor) -> None:
        """Refuse targets that do not fit outputs of this shape."""
        if target.is_floating_point():
            check_numbers(shape, target)
        else:
            check_classes(shape, target)


def _apart(output: Tensor, target: Tensor) -> Tensor:
    if target.is_floating_point():
        return output - target.to(output.dtype)
    classes = torch.arange(output.shape[-1], device=output.device)
    wanted = (target.unsqueeze(-1) == classes).to(output.dtype)
    return (output - wanted).where((target != IGNORED).unsqueeze(-1), 0.0)
