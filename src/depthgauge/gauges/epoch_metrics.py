"""What is known of a run after an epoch: one line of its metrics."""

from __future__ import annotations

from typing_extensions import TypedDict


class RunReadings(TypedDict, total=False):
    """What is read off one run after an epoch.

    What is not finite is written down as null, and read back as None.
    """

    accuracy: float | None
    """On the whole evaluation split."""
    h_norm: list[float | None]
    """Medians of ‖h_l‖, l = 0 … L."""
    g_norm: list[float | None]
    """Medians of ‖g_l‖, l = 0 … L."""
    g_over_e: float | None
    """Median of ‖g_L‖/‖e‖; runs of the first version do not have it."""


class EpochMetrics(RunReadings):
    """One line of a run's metrics."""

    epoch: int
    """How many epochs are behind the run."""
    train_loss: float | None
    """Mean over the samples of the epoch; None before training."""
    diverged: bool
    """Whether the loss or a weight is not finite."""
