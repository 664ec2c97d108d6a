"""The functions that read every run after each epoch."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from depthgauge.gauges.cohort_readings import CHUNK
from depthgauge.gauges.epoch_metrics import RunReadings
from depthgauge.gauges.norms import BATCH_READ, BATCHES_READ
from depthgauge.tasks.base import Split
from depthgauge.training.trainee import Trainee

Observer = Callable[[Trainee, Split], Sequence[RunReadings]]
"""A function that measures every run after each epoch."""


def read_accuracy(trainee: Trainee, split: Split, chunk: int = CHUNK) -> list[RunReadings]:
    """Return each run's accuracy, or its R², on the whole evaluation split."""
    total = trainee.sample_scores(split, chunk).sum(1, dtype=torch.float64)
    return [{"accuracy": score / len(split)} for score in total.tolist()]


def read_norms(
    trainee: Trainee,
    split: Split,
    *,
    batches: int = BATCHES_READ,
    batch_size: int = BATCH_READ,
) -> Sequence[RunReadings]:
    """Return each run's medians of ‖h_l‖, ‖g_l‖ (l = 0 … L) and ‖g_L‖/‖e‖."""
    return trainee.norms(split, batches, batch_size)


EVERY_EPOCH: tuple[Observer, ...] = (read_accuracy, read_norms)
"""What is read after every epoch."""
