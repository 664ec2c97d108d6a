"""Lesion: measure the accuracy that a trained network loses when one block is skipped."""

from __future__ import annotations

from itertools import pairwise

from depthgauge.gauges.accuracy import count_correct
from depthgauge.gauges.reading import Reading, SampleCount
from depthgauge.nets.batch_view import BatchView


class LesionGauge:
    """The accuracy lost when block l is skipped, for each block in turn; nothing is trained."""

    def __init__(self) -> None:
        self._lost: dict[int, int] = {}
        self._blocks = 0
        self._labels, self._count = 0, SampleCount()

    def see(self, batch: BatchView) -> None:
        """Run the batch again for each block, with this block skipped."""
        self._count.add(batch)
        if batch.labels.is_floating_point() or batch.labels.shape != batch.logits.shape[:-1]:
            return
        correct, labels = count_correct(batch.logits, batch.labels)
        self._labels += labels
        self._blocks = batch.net.num_blocks
        for index, (below, above) in enumerate(pairwise(batch.states)):
            if below.shape != above.shape:
                continue
            without, _ = count_correct(batch.net.logits(batch.inputs, skip=index), batch.labels)
            self._lost[index] = self._lost.get(index, 0) + correct - without

    def reading(self) -> Reading:
        """Return the accuracy that is lost without each block.

        `value` is the largest accuracy lost. A block that changes the stream's shape cannot be
        skipped; its number is None.
        """
        labels = self._labels
        lost = {index: wrong / labels for index, wrong in self._lost.items()} if labels else {}
        per_layer = tuple(lost.get(index) for index in range(self._blocks)) if labels else ()
        return Reading(
            name="lesion",
            value=max(lost.values(), default=None),
            per_layer=per_layer,
            unit="accuracy lost",
            convention="one block skipped at a time",
            measured_on=str(self._count),
            note="" if per_layer else "n/a: the labels are not class numbers",
        )
