"""Measure accuracy: the share of labels that the network answers correctly."""

from __future__ import annotations

from torch import Tensor

from depthgauge.gauges.reading import Reading, SampleCount
from depthgauge.losses.labels import IGNORED
from depthgauge.nets.batch_view import BatchView


def count_correct(logits: Tensor, labels: Tensor) -> tuple[int, int]:
    """Return how many labels the logits answer correctly, and how many labels there are."""
    counted = labels != IGNORED
    correct = (logits.argmax(-1) == labels) & counted
    return int(correct.sum()), int(counted.sum())


class AccuracyGauge:
    """Accuracy on the batches that the other gauges see; labels must be class numbers."""

    def __init__(self) -> None:
        self._correct, self.labels, self._count = 0, 0, SampleCount()

    def see(self, batch: BatchView) -> None:
        """Count the correct answers and the labels of the batch."""
        self._count.add(batch)
        if not batch.labels.is_floating_point() and batch.labels.shape == batch.logits.shape[:-1]:
            correct, labels = count_correct(batch.logits, batch.labels)
            self._correct, self.labels = self._correct + correct, self.labels + labels

    def reading(self) -> Reading:
        """Return the share of correct answers among all labels seen."""
        return Reading(
            name="accuracy",
            value=self._correct / self.labels if self.labels else None,
            per_layer=(),
            unit="share of labels",
            convention="largest logit",
            measured_on=str(self._count),
            note="" if self.labels else "n/a: the labels are not class numbers",
        )
