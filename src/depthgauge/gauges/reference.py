"""D2, reference: measure the true gradient that credit is compared with."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from depthgauge.errors import UserError
from depthgauge.gauges.credit import Convention
from depthgauge.gauges.norms import median_over_samples, stream_norms, summed_norms
from depthgauge.gauges.reading import Reading, SampleCount
from depthgauge.nets.batch_view import BatchView
from depthgauge.nets.layout import Layout

PUBLISHED_BATCH = 128
"""Published gradient norms are mostly of the mean loss over a batch of this many samples."""

OVER_POSITIONS: dict[Convention, str] = {
    "depthgauge": "summed over positions, for each label",
    "published": "mean over positions",
}


@dataclass(frozen=True)
class ReferenceReading(Reading):
    """Gradient norms of each sample's own loss; `value` is the median of ‖g_L‖.

    g_l is the gradient at state l of the stream, and e the error: the gradient at the logits.

    Attributes:
        per_layer: the medians of ‖g_0‖ … ‖g_L‖ over samples.
        over_error: the median of ‖g_L‖/‖e‖, the share of the error that reaches the last state.
        error: the median of ‖e‖.
    """

    over_error: float = 0.0
    error: float = 0.0

    @property
    def gradient(self) -> float | None:
        """`value` as verdicts use it: 0 if `value` is not finite, None if nothing was measured."""
        if not self.per_layer:
            return None
        return self.value if self.value is not None and math.isfinite(self.value) else 0.0

    @property
    def share(self) -> float | None:
        """`over_error` as verdicts use it: 0 if not finite, None if nothing was measured."""
        if not self.per_layer:
            return None
        return self.over_error if math.isfinite(self.over_error) else 0.0

    @property
    def per_layer_n128(self) -> tuple[float, ...]:
        """The norms for the mean loss of a batch of 128 samples, as in most publications."""
        return tuple((norm or 0.0) / PUBLISHED_BATCH for norm in self.per_layer)


class ReferenceGauge:
    """The norms of the gradients of each sample's own loss at every state of the stream.

    The norms do not depend on the batch size. The backward pass starts from the error e at the
    logits, scaled to norm 1; the gradients are then multiplied by ‖e‖. Samples whose labels are all
    −100 have no loss and do not count.

    If the stream has positions, norms are summed over positions and divided by the number of the
    sample's labels. So the norms do not depend on the number of positions or tokens. In the
    published convention norms are averaged over positions.
    """

    def __init__(self, convention: Convention = "depthgauge") -> None:
        self._convention = convention
        self._gradients: list[torch.Tensor] = []
        self._ratios: list[torch.Tensor] = []
        self._errors: list[torch.Tensor] = []
        self._count = SampleCount()

    def see(self, batch: BatchView) -> None:
        """Store the norms of the batch."""
        self._count.add(batch)
        counted = batch.counted
        error = batch.error if batch.error.dim() > 1 else batch.error.unsqueeze(1)
        outputs = Layout(feature_axis=batch.class_axis)
        norms = summed_norms if self._convention == "depthgauge" else stream_norms
        labels = batch.labels_summed if self._convention == "depthgauge" else 1
        gradients = norms(batch.unit_gradients, batch.net.layout) * batch.error_size / labels
        gradients = gradients[:, counted]
        errors = (norms([error], outputs)[0] / labels)[counted]
        self._gradients.append(gradients)
        self._errors.append(errors)
        self._ratios.append(torch.where(errors > 0, gradients[-1] / errors, 0.0))

    def reading(self) -> ReferenceReading:
        """Return the medians over all samples seen."""
        if not sum(map(len, self._errors)):
            raise UserError(
                "all labels are −100, so no sample has a loss or a gradient; give at least one "
                "label that is not −100"
            )
        medians = median_over_samples(torch.cat(self._gradients, -1)).tolist()
        return ReferenceReading(
            name="D2 reference",
            value=medians[-1],
            per_layer=tuple(medians),
            unit="median norm of ∂loss_i/∂h_l",
            convention=f"{self._convention}; each sample's own loss; norms over features, "
            f"{OVER_POSITIONS[self._convention]}; divide by {PUBLISHED_BATCH} for the mean loss of "
            f"a batch of {PUBLISHED_BATCH}",
            measured_on=str(self._count),
            note=_note(medians[-1]),
            over_error=float(median_over_samples(torch.cat(self._ratios))),
            error=float(median_over_samples(torch.cat(self._errors))),
        )


def _note(last: float) -> str:
    if not math.isfinite(last):
        return "the gradient is not finite"
    return "the gradient is exactly zero" if last == 0 else ""
