"""Rewind: measure the accuracy lost when one block gets its initial weights back."""

from __future__ import annotations

from depthgauge.gauges.accuracy import count_correct
from depthgauge.gauges.reading import Reading, SampleCount
from depthgauge.nets.batch_view import BatchView
from depthgauge.nets.initial_weights import InitialWeights


class RewindGauge:
    """The accuracy lost with block l at its initial weights, for each block in turn.

    Nothing is trained.

    Args:
        initial: the weights before training; None if they are not available.
    """

    def __init__(self, initial: InitialWeights | None = None) -> None:
        self._initial = initial
        self._lost: list[int] = []
        self._labels, self._count = 0, SampleCount()

    def see(self, batch: BatchView) -> None:
        """Run the batch again for each block, with this block at its initial weights."""
        self._count.add(batch)
        are_classes = not batch.labels.is_floating_point()
        fits = batch.labels.shape == batch.logits.shape[:-1]
        if self._initial is None or not are_classes or not fits:
            return
        self._lost = self._lost or [0] * batch.net.num_blocks
        correct, labels = count_correct(batch.logits, batch.labels)
        self._labels += labels
        for index in range(batch.net.num_blocks):
            with self._initial.in_block(batch.net, index):
                rewound, _ = count_correct(batch.net.logits(batch.inputs), batch.labels)
            self._lost[index] += correct - rewound

    def reading(self) -> Reading:
        """Return the accuracy that is lost with each block at its initial weights.

        `value` is the largest accuracy lost.
        """
        per_layer = tuple(lost / self._labels for lost in self._lost) if self._labels else ()
        reason = "n/a: the initial weights are not at hand"
        if self._initial is not None:
            reason = "n/a: the labels are not class numbers"
        return Reading(
            name="rewind",
            value=max(per_layer, default=None),
            per_layer=per_layer,
            unit="accuracy lost",
            convention="one block at its initial weights at a time",
            measured_on=str(self._count),
            note="" if per_layer else reason,
        )
