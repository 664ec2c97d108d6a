"""Rewind: measure the accuracy lost when one block gets its initial weights back."""

from __future__ import annotations

from depthgauge.gauges.accuracy import NO_SCORE, ScoreSum
from depthgauge.gauges.reading import Reading, SampleCount
from depthgauge.nets.batch_view import BatchView
from depthgauge.nets.initial_weights import InitialWeights


class RewindGauge:
    """The accuracy, or R², lost with block l at its initial weights, for each block in turn.

    Nothing is trained.

    Args:
        initial: the weights before training; None if they are not available.
    """

    def __init__(self, initial: InitialWeights | None = None) -> None:
        self._initial = initial
        self._whole, self._rewound = ScoreSum(), list[ScoreSum]()
        self._count = SampleCount()

    def see(self, batch: BatchView) -> None:
        """Run the batch again for each block, with this block at its initial weights."""
        self._count.add(batch)
        if self._initial is None:
            return
        self._whole.add(batch, batch.logits)
        if not self._whole.labels:
            return
        self._rewound = self._rewound or [ScoreSum() for _ in range(batch.net.num_blocks)]
        for index, score in enumerate(self._rewound):
            with self._initial.in_block(batch.net, index):
                score.add(batch, batch.net.logits(batch.inputs))

    def reading(self) -> Reading:
        """Return the accuracy that is lost with each block at its initial weights.

        `value` is the largest accuracy lost.
        """
        per_layer = tuple(self._whole.minus(rewound) for rewound in self._rewound)
        reason = NO_SCORE if self._initial else "n/a: the initial weights are not at hand"
        return Reading(
            name="rewind",
            value=max(per_layer, default=None),
            per_layer=per_layer,
            unit=f"{self._whole.name} lost",
            convention="one block at its initial weights at a time",
            measured_on=str(self._count),
            note="" if per_layer else reason,
        )
