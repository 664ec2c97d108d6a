"""Γ, alignment: the cosine of the credit with the true gradient at the same place."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from depthgauge.gauges.credit import Convention, CreditFunction, credit_of, paired
from depthgauge.gauges.norms import cosines
from depthgauge.gauges.reading import Reading, SampleCount, none_if_nan
from depthgauge.nets.batch_view import BatchView


@dataclass(frozen=True)
class AlignmentReading(Reading):
    """`per_layer` has L + 1 means over samples, the embedding first; `value` is that of the blocks.

    Attributes:
        over_all: mean over all layers, the embedding among them.
        undefined: at each layer, how many samples have a credit or gradient of exactly zero.
    """

    over_all: float | None = None
    undefined: tuple[int, ...] = ()


class AlignmentGauge:
    """Mean over samples of cos(a, g), layer by layer: one mean over layers hides too much."""

    def __init__(self, credit: CreditFunction, convention: Convention = "depthgauge") -> None:
        self._credit, self._convention = credit, convention
        self._cosines: list[torch.Tensor] = []
        self._count = SampleCount()

    def see(self, batch: BatchView) -> None:
        """Keep the cosines of the batch, (layers, samples)."""
        self._count.add(batch)
        arrange = batch.net.layout.arrange
        credit = paired(credit_of(self._credit, batch), self._convention)
        self._cosines.append(
            torch.stack(
                [
                    cosines(arrange(a).flatten(1), arrange(g).flatten(1))
                    for a, g in zip(credit, batch.unit_gradients, strict=True)
                ]
            )
        )

    def reading(self) -> AlignmentReading:
        """The means over all samples for which a cosine is defined."""
        per_sample = torch.cat(self._cosines, -1)
        layers = per_sample.nanmean(-1)
        return AlignmentReading(
            name="Γ alignment",
            value=none_if_nan(float(layers[1:].mean())),
            per_layer=tuple(none_if_nan(value) for value in layers.tolist()),
            unit="cosine",
            convention=f"{self._convention}; mean over samples, embedding first, then the blocks",
            measured_on=str(self._count),
            note="" if bool(layers.isfinite().all()) else "undefined where a vector is zero",
            over_all=none_if_nan(float(layers.mean())),
            undefined=tuple(per_sample.isnan().sum(-1).tolist()),
        )
