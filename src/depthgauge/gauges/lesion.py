"""Lesion: measure the accuracy that a trained network loses when one block is skipped."""

from __future__ import annotations

from itertools import pairwise

from depthgauge.gauges.accuracy import NO_SCORE, ScoreSum
from depthgauge.gauges.reading import Reading, SampleCount
from depthgauge.nets.batch_view import BatchView


class LesionGauge:
    """The accuracy, or R², lost when block l is skipped, for each block in turn.

    Nothing is trained.
    """

    def __init__(self) -> None:
        self._whole, self._without = ScoreSum(), dict[int, ScoreSum]()
        self._blocks, self._count = 0, SampleCount()

    def see(self, batch: BatchView) -> None:
        """Run the batch again for each block, with this block skipped."""
        self._count.add(batch)
        self._whole.add(batch, batch.logits)
        if not self._whole.labels:
            return
        self._blocks = batch.net.num_blocks
        for index, (below, above) in enumerate(pairwise(batch.states)):
            if below.shape == above.shape:
                score = self._without.setdefault(index, ScoreSum())
                score.add(batch, batch.net.logits(batch.inputs, skip=index))

    def reading(self) -> Reading:
        """Return the accuracy that is lost without each block.

        `value` is the largest accuracy lost. A block that changes the stream's shape cannot be
        skipped; its number is None.
        """
        lost = {index: self._whole.minus(without) for index, without in self._without.items()}
        per_layer = tuple(lost.get(index) for index in range(self._blocks)) if lost else ()
        return Reading(
            name="lesion",
            value=max(lost.values(), default=None),
            per_layer=per_layer,
            unit=f"{self._whole.name} lost",
            convention="one block skipped at a time",
            measured_on=str(self._count),
            note="" if per_layer else NO_SCORE,
        )
