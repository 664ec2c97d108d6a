"""Accuracy: the share of labels that are named rightly."""

from __future__ import annotations

from torch import Tensor

from depthgauge.gauges.reading import Reading, Seen
from depthgauge.nets.sample_loss import IGNORED
from depthgauge.nets.seen_batch import SeenBatch


def named_rightly(logits: Tensor, labels: Tensor) -> tuple[int, int]:
    """How many labels are named rightly, and how many there are."""
    counted = labels != IGNORED
    right = (logits.argmax(-1) == labels) & counted
    return int(right.sum()), int(counted.sum())


class AccuracyGauge:
    """Accuracy on what the other gauges see; labels must be class numbers."""

    def __init__(self) -> None:
        self._right, self.labels, self._seen = 0, 0, Seen()

    def see(self, batch: SeenBatch) -> None:
        """Count the batch."""
        self._seen.count(batch)
        if not batch.labels.is_floating_point() and batch.labels.shape == batch.logits.shape[:-1]:
            right, labels = named_rightly(batch.logits, batch.labels)
            self._right, self.labels = self._right + right, self.labels + labels

    def reading(self) -> Reading:
        """The share over all labels seen."""
        return Reading(
            name="accuracy",
            value=self._right / self.labels if self.labels else None,
            per_layer=(),
            unit="share of labels",
            convention="largest logit",
            measured_on=str(self._seen),
            note="" if self.labels else "n/a: the labels are not class numbers",
        )
