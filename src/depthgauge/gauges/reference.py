"""D2, reference: is there a gradient left to be compared with?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from depthgauge.errors import UserError
from depthgauge.gauges.norms import median_over_samples, stream_norms
from depthgauge.gauges.reading import Reading, Seen
from depthgauge.nets.layout import Layout
from depthgauge.nets.seen_batch import SeenBatch

PUBLISHED_BATCH = 128
"""Published gradient norms are of the batch-mean loss, mostly over this many samples."""


@dataclass(frozen=True)
class ReferenceReading(Reading):
    """`value` is the median of ‖g_L‖, `per_layer` the medians of ‖g_l‖, per sample.

    Attributes:
        over_error: median of ‖g_L‖/‖e‖, the share of the error that comes through.
        error: median of ‖e‖.
    """

    over_error: float = 0.0
    error: float = 0.0

    @property
    def gradient(self) -> float | None:
        """As verdicts take it: a gradient that is not finite is none; None where it is not read."""
        if not self.per_layer:
            return None
        return self.value if self.value is not None and math.isfinite(self.value) else 0.0

    @property
    def share(self) -> float | None:
        """‖g_L‖/‖e‖ as verdicts take it."""
        if not self.per_layer:
            return None
        return self.over_error if math.isfinite(self.over_error) else 0.0

    @property
    def per_layer_n128(self) -> tuple[float, ...]:
        """The same norms for the mean loss of a batch of 128, as they are mostly published."""
        return tuple((norm or 0.0) / PUBLISHED_BATCH for norm in self.per_layer)


class ReferenceGauge:
    """Norms of g_l, the gradient of each sample's own loss: no batch size comes in.

    ‖g_l‖ is put together from ‖g_l‖/‖e‖, which is what went through the network, and ‖e‖. Samples
    without a label (all −100) have no loss and do not count.
    """

    def __init__(self) -> None:
        self._gradients: list[torch.Tensor] = []
        self._ratios: list[torch.Tensor] = []
        self._errors: list[torch.Tensor] = []
        self._seen = Seen()

    def see(self, batch: SeenBatch) -> None:
        """Keep the norms of the batch."""
        self._seen.count(batch)
        counted = batch.counted
        gradients = stream_norms(batch.unit_gradients, batch.net.layout) * batch.error_size
        gradients = gradients[:, counted]
        errors = stream_norms([batch.error], Layout(feature_axis=-1))[0][counted]
        self._gradients.append(gradients)
        self._errors.append(errors)
        self._ratios.append(torch.where(errors > 0, gradients[-1] / errors, 0.0))

    def reading(self) -> ReferenceReading:
        """The medians over all samples seen."""
        if not sum(map(len, self._errors)):
            raise UserError("no sample has a label that counts, so there is no gradient to read")
        medians = median_over_samples(torch.cat(self._gradients, -1)).tolist()
        return ReferenceReading(
            name="D2 reference",
            value=medians[-1],
            per_layer=tuple(medians),
            unit="median norm of ∂loss_i/∂h_l",
            convention=f"each sample's own loss; divide by {PUBLISHED_BATCH} for the mean loss of "
            f"a batch of {PUBLISHED_BATCH}",
            measured_on=str(self._seen),
            note=_note(medians[-1]),
            over_error=float(median_over_samples(torch.cat(self._ratios))),
            error=float(median_over_samples(torch.cat(self._errors))),
        )


def _note(last: float) -> str:
    if not math.isfinite(last):
        return "the gradient is not finite"
    return "the gradient is exactly zero" if last == 0 else ""
