"""D2s, stability: measure whether gradients of different batches point the same way."""

from __future__ import annotations

from itertools import combinations

import torch

from depthgauge.gauges.norms import cosines
from depthgauge.gauges.reading import Reading, SampleCount, none_if_nan
from depthgauge.nets.batch_view import BatchView, along_axis

FEWEST_BATCHES = 8


class StabilityGauge:
    """The mean cosine between the mean gradients of two batches, at the middle layer.

    The middle layer of L blocks is ⌊L/2⌋. If the cosine is near zero, gradients differ between
    batches like noise; if it is near one, the gradients of all batches point the same way.
    Gradients are averaged over positions too, so batches may have different numbers of tokens.
    Every sample counts the same, whatever the number of its labels.
    """

    def __init__(self) -> None:
        self._means: list[torch.Tensor] = []
        self._count, self._layer = SampleCount(), 0

    def see(self, batch: BatchView) -> None:
        """Store the mean gradient of the batch."""
        self._count.add(batch)
        self._layer = batch.net.num_blocks // 2
        gradient = batch.net.layout.arrange(batch.gradients[self._layer])
        for_each_label = gradient / along_axis(batch.labels_summed, gradient, 0)
        self._means.append(for_each_label[batch.counted].mean((0, 1)).nan_to_num().cpu())

    def reading(self) -> Reading:
        """Return the mean over all pairs of batches; None with fewer than 8 batches."""
        value, note = None, ""
        if len(self._means) < FEWEST_BATCHES:
            note = f"n/a: needs at least {FEWEST_BATCHES} batches, was given {len(self._means)}"
        else:
            pairs = torch.stack([cosines(a, b) for a, b in combinations(self._means, 2)])
            value = none_if_nan(float(pairs.nanmean()))
            note = "" if value is not None else "undefined: the gradient is exactly zero"
        return Reading(
            name="D2s stability",
            value=value,
            per_layer=(),
            unit="cosine",
            convention=f"batch-mean gradients at layer {self._layer}, mean over pairs of batches",
            measured_on=str(self._count),
            note=note,
        )
