"""Rewind: what a trained network loses when one block goes back to its initial weights."""

from __future__ import annotations

from depthgauge.gauges.accuracy import count_correct
from depthgauge.gauges.reading import Reading, SampleCount
from depthgauge.nets.batch_view import BatchView
from depthgauge.nets.initial_weights import InitialWeights


class RewindGauge:
    """Accuracy lost with block l at its initial weights, each block in turn; no training.

    Args:
        initial: the weights before training; None where they are not at hand.
    """

    def __init__(self, initial: InitialWeights | None = None) -> None:
        self._initial = initial
        self._lost: list[int] = []
        self._labels, self._count = 0, SampleCount()

    def see(self, batch: BatchView) -> None:
        """Answer the batch once more with each block rewound."""
        self._count.add(batch)
        is_named = not batch.labels.is_floating_point()
        if self._initial is None or not is_named or batch.labels.shape != batch.logits.shape[:-1]:
            return
        self._lost = self._lost or [0] * batch.net.num_blocks
        right, labels = count_correct(batch.logits, batch.labels)
        self._labels += labels
        for index in range(batch.net.num_blocks):
            with self._initial.in_block(batch.net, index):
                rewound, _ = count_correct(batch.net.logits(batch.inputs), batch.labels)
            self._lost[index] += right - rewound

    def reading(self) -> Reading:
        """The share of labels lost with each block rewound; `value` is the largest."""
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
