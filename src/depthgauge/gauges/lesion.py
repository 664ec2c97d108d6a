"""Lesion: measure the accuracy that a trained network loses when one block is skipped."""

from __future__ import annotations

from depthgauge.gauges.accuracy import count_correct
from depthgauge.gauges.reading import Reading, SampleCount
from depthgauge.nets.batch_view import BatchView


class LesionGauge:
    """The accuracy lost when block l is skipped, for each block in turn; nothing is trained."""

    def __init__(self) -> None:
        self._lost: list[int] = []
        self._labels, self._count = 0, SampleCount()

    def see(self, batch: BatchView) -> None:
        """Run the batch again for each block, with this block skipped."""
        self._count.add(batch)
        if batch.labels.is_floating_point() or batch.labels.shape != batch.logits.shape[:-1]:
            return
        self._lost = self._lost or [0] * batch.net.num_blocks
        correct, labels = count_correct(batch.logits, batch.labels)
        self._labels += labels
        for index in range(batch.net.num_blocks):
            without, _ = count_correct(batch.net.logits(batch.inputs, skip=index), batch.labels)
            self._lost[index] += correct - without

    def reading(self) -> Reading:
        """Return the accuracy that is lost without each block.

        `value` is the largest accuracy lost.
        """
        per_layer = tuple(lost / self._labels for lost in self._lost) if self._labels else ()
        return Reading(
            name="lesion",
            value=max(per_layer, default=None),
            per_layer=per_layer,
            unit="accuracy lost",
            convention="one block skipped at a time",
            measured_on=str(self._count),
            note="" if per_layer else "n/a: the labels are not class numbers",
        )
