"""Compute a loss and its error for many runs at once."""

from __future__ import annotations

from torch import Tensor

from depthgauge.losses.contract import Loss


def value_and_error_of_runs(loss: Loss, outputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """Return each sample's loss, (runs, samples), and the error, of the shape of the outputs.

    Both arguments have runs on their first axis and samples on their second.
    """
    value, error = loss.value_and_error(outputs.flatten(0, 1), targets.flatten(0, 1))
    return value.view(outputs.shape[:2]), error.view_as(outputs)
