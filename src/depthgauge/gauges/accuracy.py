"""Accuracy: the share of labels that are named rightly."""

from __future__ import annotations

from torch import Tensor

from depthgauge.gauges.reading import Reading, SampleCount
from depthgauge.nets.batch_view import BatchView
from depthgauge.nets.sample_loss import IGNORED


def count_correct(logits: Tensor, labels: Tensor) -> tuple[int, int]:
    """How many labels are named rightly, and how many there are."""
    counted = labels != IGNORED
    right = (logits.argmax(-1) == labels) & counted
    return int(right.sum()), int(counted.sum())


class AccuracyGauge:
    """Accuracy on what the other gauges see; labels must be class numbers."""

    def __init__(self) -> None:
        self._right, self.labels, self._count = 0, 0, SampleCount()

    def see(self, batch: BatchView) -> None:
        """Count the batch."""
        self._count.add(batch)
        if not batch.labels.is_floating_point() and batch.labels.shape == batch.logits.shape[:-1]:
            right, labels = count_correct(batch.logits, batch.labels)
            self._right, self.labels = self._right + right, self.labels + labels

    def reading(self) -> Reading:
        """The share over all labels seen."""
        return Reading(
            name="accuracy",
            value=self._right / self.labels if self.labels else None,
            per_layer=(),
            unit="share of labels",
            convention="largest logit",
            measured_on=str(self._count),
            note="" if self.labels else "n/a: the labels are not class numbers",
        )
