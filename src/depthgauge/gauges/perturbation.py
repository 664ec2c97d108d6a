"""ρ, perturbation correlation: measure whether the credit predicts small changes of the loss."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from depthgauge.gauges.credit import Convention, checked_credit
from depthgauge.gauges.float64_copy import Float64Copy
from depthgauge.gauges.reading import Reading, SampleCount, none_if_nan
from depthgauge.nets.batch_view import BatchView, along_axis, size_of_samples
from depthgauge.rules.credit_function import CreditFunction

DIRECTIONS = 32
SAMPLES = 256
STEP = 1e-3

Losses = Callable[[tuple[int, Tensor] | None], Tensor]


class PerturbationGauge:
    """The correlation between the change of the loss that the credit predicts and the real change.

    The stream h is shifted by εv along a random unit vector v. The credit a predicts the change
    ⟨a, εv⟩; the real change is loss(h + εv) − loss(h). The Pearson correlation is over all
    directions v and the first `samples` samples.

    For a sample whose stream has d entries, ε is 1e-3·‖h‖/√d; in the published convention ε is
    1e-3 for all samples. Losses are computed in float64 on a copy of the network: if the stream is
    large, the change of a float32 loss is lost in rounding.
    """

    def __init__(
        self,
        credit: CreditFunction,
        convention: Convention = "depthgauge",
        directions: int = DIRECTIONS,
        samples: int = SAMPLES,
    ) -> None:
        self._credit, self._convention = credit, convention
        self._directions, self._samples = directions, samples
        self._predicted: list[list[Tensor]] = []
        self._measured: list[list[Tensor]] = []
        self._generator = torch.Generator().manual_seed(0)
        self._count, self._copy = SampleCount(), Float64Copy()

    def see(self, batch: BatchView) -> None:
        """Shift the stream at every boundary in random directions; stop after enough samples."""
        losses = self._losses_of(batch)
        if losses is None or self._count.samples >= self._samples:
            return
        self._count.add(batch)
        before = losses(None)
        credit = self._credit_at_boundaries(batch)
        self._predicted = self._predicted or [[] for _ in credit]
        self._measured = self._measured or [[] for _ in credit]
        for layer, (state, own) in enumerate(zip(batch.states, credit, strict=True)):
            for _ in range(self._directions):
                shift = self._shift(batch, state)
                self._predicted[layer].append(_by_sample(own.double() * shift, batch).sum(1))
                self._measured[layer].append(losses((layer, shift)) - before)

    def _losses_of(self, batch: BatchView) -> Losses | None:
        """Return a function that shifts the stream at one boundary and returns each sample's loss.

        Returns None if the network cannot be copied in float64.
        """
        exact = self._copy.of(batch)
        if exact is None:
            return None
        return lambda shift: exact.losses(batch.inputs, batch.labels, shift=shift)

    def _credit_at_boundaries(self, batch: BatchView) -> list[Tensor]:
        return checked_credit(self._credit, batch)

    def _shift(self, batch: BatchView, state: Tensor) -> Tensor:
        axis = batch.net.layout.sample_axis
        noise = torch.randn(state.shape, generator=self._generator, dtype=torch.float64)
        noise = noise.to(state.device)
        scale = STEP / size_of_samples(_by_sample(noise, batch))
        if self._convention == "depthgauge":
            scale = scale * relative_size(batch, state)
        return noise * along_axis(scale, noise, axis)

    def reading(self) -> Reading:
        """Return the correlation at each layer; `value` is the mean over the blocks."""
        per_layer = [
            _pearson(torch.cat(predicted), torch.cat(measured))
            for predicted, measured in zip(self._predicted, self._measured, strict=True)
        ]
        deep = math.fsum(per_layer[1:]) / len(per_layer[1:]) if per_layer else math.nan
        return Reading(
            name="ρ perturbation correlation",
            value=none_if_nan(deep),
            per_layer=tuple(none_if_nan(value) for value in per_layer),
            unit="correlation",
            convention=f"{self._convention}; {self._directions} directions, {self._method()}",
            measured_on=str(self._count),
            note=self._copy.note or ("" if not math.isnan(deep) else "undefined: nothing varies"),
        )

    def _method(self) -> str:
        step = "1e-3·‖h‖/√d" if self._convention == "depthgauge" else "1e-3"
        return f"ε = {step}, float64"


def relative_size(batch: BatchView, state: Tensor) -> Tensor:
    """Return ‖h‖/√d of each sample, where d is the number of its entries."""
    flat = _by_sample(state.double(), batch)
    return size_of_samples(flat) / math.sqrt(flat.shape[1])


def _by_sample(stream: Tensor, batch: BatchView) -> Tensor:
    return stream.movedim(batch.net.layout.sample_axis, 0).flatten(1)


def _pearson(a: Tensor, b: Tensor) -> float:
    """Return the Pearson correlation; NaN if one of the two does not vary."""
    a, b = a - a.mean(), b - b.mean()
    a, b = a / a.abs().max(), b / b.abs().max()
    return float((a * b).sum() / (a.norm() * b.norm()))
