"""Measure alignment Γ: the cosine of the credit with the true gradient at the same layer."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from depthgauge.gauges.credit import Convention, checked_credit, pair_with_gradients
from depthgauge.gauges.norms import cosines
from depthgauge.gauges.reading import Reading, SampleCount, none_if_nan
from depthgauge.nets.batch_view import BatchView
from depthgauge.rules.credit_function import CreditFunction


@dataclass(frozen=True)
class AlignmentReading(Reading):
    """Alignment at each layer; `value` is the mean over the blocks.

    Attributes:
        per_layer: the mean over samples at each of the L + 1 layers, the embedding first.
        over_all: the mean over all layers, including the embedding.
        undefined: at each layer, how many samples have a credit or gradient of exactly zero.
    """

    over_all: float | None = None
    undefined: tuple[int, ...] = ()


class AlignmentGauge:
    """The mean over samples of cos(a, g) at each layer, with credit a and gradient g.

    Vectors are over all axes of a sample. By the published convention a block's credit is compared
    with the gradient at its input; where the block changes the shape, this has no cosine.
    """

    def __init__(self, credit: CreditFunction, convention: Convention = "depthgauge") -> None:
        self._credit, self._convention = credit, convention
        self._cosines: list[torch.Tensor] = []
        self._count, self._shapes_agree = SampleCount(), True

    def see(self, batch: BatchView) -> None:
        """Store the cosines of the batch, a tensor (layers, samples)."""
        self._count.add(batch)
        arrange = batch.net.layout.arrange
        credit = pair_with_gradients(checked_credit(self._credit, batch), self._convention)
        pairs = list(zip(credit, batch.unit_gradients, strict=True))
        self._shapes_agree = all(a.shape == g.shape for a, g in pairs)
        self._cosines.append(
            torch.stack(
                [
                    cosines(arrange(a).flatten(1), arrange(g).flatten(1))
                    if a.shape == g.shape
                    else batch.losses.new_full((len(batch),), torch.nan)
                    for a, g in pairs
                ]
            )
        )

    def reading(self) -> AlignmentReading:
        """Return the means over all samples whose cosine is defined."""
        per_sample = torch.cat(self._cosines, -1)
        layers = per_sample.nanmean(-1)
        return AlignmentReading(
            name="Γ alignment",
            value=none_if_nan(float(layers[1:].mean())),
            per_layer=tuple(none_if_nan(value) for value in layers.tolist()),
            unit="cosine",
            convention=f"{self._convention}; mean over samples, embedding first, then the blocks",
            measured_on=str(self._count),
            note="" if bool(layers.isfinite().all()) else self._why_undefined(),
            over_all=none_if_nan(float(layers.mean())),
            undefined=tuple(per_sample.isnan().sum(-1).tolist()),
        )

    def _why_undefined(self) -> str:
        if self._shapes_agree:
            return "undefined where a vector is zero"
        return "undefined at the input of a block that changes the stream's shape"
