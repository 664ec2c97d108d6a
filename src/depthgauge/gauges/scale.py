"""D1, scale: measure the factor by which the stream grows from one block to the next."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from depthgauge.gauges.norms import median_over_samples, stream_norms
from depthgauge.gauges.pinned_norm import is_norm_pinned
from depthgauge.gauges.reading import Reading, SampleCount, none_if_nan
from depthgauge.nets.batch_view import BatchView


@dataclass(frozen=True)
class ScaleReading(Reading):
    """The growth of the stream; `value` is the largest growth over the blocks.

    Attributes:
        per_layer: median‖h_{l+1}‖ / median‖h_l‖ of each block.
        residual_norms: the medians of ‖h_0‖ … ‖h_L‖.
        pinned: whether no block can change the norm of the stream. If so, growth cannot be seen.
    """

    residual_norms: tuple[float, ...] = ()
    pinned: bool = False

    @property
    def growth(self) -> float:
        """`value` as verdicts use it: ∞ if the stream is not finite, 0 if the stream is zero."""
        if not all(map(math.isfinite, self.residual_norms)):
            return math.inf
        return 0.0 if self.value is None else self.value


PINNED = "the network pins its own norm after every block, so growth could not show"


class ScaleGauge:
    """Medians over samples of ‖h_l‖, and the largest growth from one state to the next."""

    def __init__(self) -> None:
        self._norms: list[torch.Tensor] = []
        self._count, self._pinned = SampleCount(), False

    def see(self, batch: BatchView) -> None:
        """Store the norms of the batch; on the first batch, test whether the norms are pinned."""
        if not self._count.batches:
            self._pinned = is_norm_pinned(batch)
        self._count.add(batch)
        self._norms.append(stream_norms(batch.states, batch.net.layout))

    def reading(self) -> ScaleReading:
        """Return the growth over all samples seen."""
        medians = median_over_samples(torch.cat(self._norms, -1))
        growth = (medians[1:] / medians[:-1]).tolist()
        known = [ratio for ratio in growth if none_if_nan(ratio) is not None]
        return ScaleReading(
            name="D1 scale",
            value=max(known, default=None),
            per_layer=tuple(none_if_nan(ratio) for ratio in growth),
            unit="ratio of medians, ‖h_{l+1}‖ to ‖h_l‖",
            convention="largest over the blocks; norms over features, mean over positions",
            measured_on=str(self._count),
            note=_note(medians, known) or (PINNED if self._pinned else ""),
            residual_norms=tuple(medians.tolist()),
            pinned=self._pinned,
        )


def _note(medians: torch.Tensor, known: list[float]) -> str:
    if not bool(medians.isfinite().all()):
        return "the stream is not finite"
    return "" if known else "the stream is exactly zero"
