"""Lesion: measure the accuracy that a trained network loses when one block is skipped."""

from __future__ import annotations

from depthgauge.gauges.accuracy import NO_SCORE, ScoreSum
from depthgauge.gauges.reading import Reading, SampleCount
from depthgauge.nets.batch_view import BatchView


class LesionGauge:
    """The accuracy, or R², lost when block l is skipped, for each block in turn.

    Nothing is trained.
    """

    def __init__(self) -> None:
        self._whole, self._without = ScoreSum(), list[ScoreSum]()
        self._count = SampleCount()

    def see(self, batch: BatchView) -> None:
        """Run the batch again for each block, with this block skipped."""
        self._count.add(batch)
        self._whole.add(batch, batch.logits)
        if not self._whole.labels:
            return
        self._without = self._without or [ScoreSum() for _ in range(batch.net.num_blocks)]
        for index, score in enumerate(self._without):
            score.add(batch, batch.net.logits(batch.inputs, skip=index))

    def reading(self) -> Reading:
        """Return the accuracy that is lost without each block.

        `value` is the largest accuracy lost.
        """
        per_layer = tuple(self._whole.minus(without) for without in self._without)
        return Reading(
            name="lesion",
            value=max(per_layer, default=None),
            per_layer=per_layer,
            unit=f"{self._whole.name} lost",
            convention="one block skipped at a time",
            measured_on=str(self._count),
            note="" if per_layer else NO_SCORE,
        )
