"""The metrics of a run after an epoch: one line of `metrics.jsonl`."""

from __future__ import annotations

from typing_extensions import TypedDict


class RunReadings(TypedDict, total=False):
    """The readings of one run after an epoch.

    A number that is not finite is written as null and read back as None.
    """

    accuracy: float | None
    """Accuracy on the whole evaluation split, or what the recipe's `score` names: R²."""
    h_norm: list[float | None]
    """Medians of ‖h_l‖, l = 0 … L."""
    g_norm: list[float | None]
    """Medians of ‖g_l‖, l = 0 … L."""
    g_over_e: float | None
    """Median of ‖g_L‖/‖e‖; missing in runs of the first version."""


class EpochMetrics(RunReadings):
    """One line of a run's metrics."""

    epoch: int
    """The number of finished epochs."""
    train_loss: float | None
    """Mean training loss over the samples of the epoch; None before training."""
    diverged: bool
    """Whether the loss or a weight is infinite or NaN."""
