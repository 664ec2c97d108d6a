"""ρ, perturbation correlation: does the credit foretell what small changes do to the loss?"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from depthgauge.gauges.credit import Convention, CreditFunction, credit_of
from depthgauge.gauges.float64_copy import Float64Copy
from depthgauge.gauges.reading import Reading, SampleCount, none_if_nan
from depthgauge.nets.batch_view import BatchView, along_axis, size_of_samples

DIRECTIONS = 32
SAMPLES = 256
STEP = 1e-3

Losses = Callable[[tuple[int, Tensor] | None], Tensor]


class PerturbationGauge:
    """Pearson correlation of ⟨a, εv⟩ with loss(h + εv) − loss(h), v random unit directions.

    Pooled over the directions and the first samples, in float64 on a copy of the network: in
    float32 the change is lost in rounding where the stream is large. ε is 1e-3·‖h‖/√d for each
    sample; the published one is 1e-3 for all.
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
        self._foretold: list[list[Tensor]] = []
        self._happened: list[list[Tensor]] = []
        self._generator = torch.Generator().manual_seed(0)
        self._count, self._copy = SampleCount(), Float64Copy()

    def see(self, batch: BatchView) -> None:
        """Shift every boundary of the batch in every direction, until there are enough samples."""
        losses = self._losses_of(batch)
        if losses is None or self._count.samples >= self._samples:
            return
        self._count.add(batch)
        before = losses(None)
        credit = self._credit_at_boundaries(batch)
        self._foretold = self._foretold or [[] for _ in credit]
        self._happened = self._happened or [[] for _ in credit]
        for layer, (state, given) in enumerate(zip(batch.states, credit, strict=True)):
            for _ in range(self._directions):
                shift = self._shift(batch, state)
                foretold = _by_sample(given.double() * shift, batch).sum(1)
                self._foretold[layer].append(foretold)
                self._happened[layer].append(losses((layer, shift)) - before)

    def _losses_of(self, batch: BatchView) -> Losses | None:
        """From a shift of one boundary to each sample's loss; None where no loss can be read."""
        exact = self._copy.of(batch)
        if exact is None:
            return None
        return lambda shift: exact.losses(batch.inputs, batch.labels, shift=shift)

    def _credit_at_boundaries(self, batch: BatchView) -> list[Tensor]:
        return credit_of(self._credit, batch)

    def _shift(self, batch: BatchView, state: Tensor) -> Tensor:
        axis = batch.net.layout.sample_axis
        noise = torch.randn(state.shape, generator=self._generator, dtype=torch.float64)
        noise = noise.to(state.device)
        scale = STEP / size_of_samples(_by_sample(noise, batch))
        if self._convention == "depthgauge":
            scale = scale * relative_size(batch, state)
        return noise * along_axis(scale, noise, axis)

    def reading(self) -> Reading:
        """One correlation for each layer; `value` is the mean over the blocks."""
        per_layer = [
            _pearson(torch.cat(foretold), torch.cat(happened))
            for foretold, happened in zip(self._foretold, self._happened, strict=True)
        ]
        deep = math.fsum(per_layer[1:]) / len(per_layer[1:]) if per_layer else math.nan
        return Reading(
            name="ρ perturbation correlation",
            value=none_if_nan(deep),
            per_layer=tuple(none_if_nan(value) for value in per_layer),
            unit="correlation",
            convention=f"{self._convention}; {self._directions} directions, {self._how()}",
            measured_on=str(self._count),
            note=self._copy.note or ("" if not math.isnan(deep) else "undefined: nothing varies"),
        )

    def _how(self) -> str:
        step = "1e-3·‖h‖/√d" if self._convention == "depthgauge" else "1e-3"
        return f"ε = {step}, float64"


def relative_size(batch: BatchView, state: Tensor) -> Tensor:
    """‖h‖/√d of each sample, over all its d numbers."""
    flat = _by_sample(state.double(), batch)
    return size_of_samples(flat) / math.sqrt(flat.shape[1])


def _by_sample(stream: Tensor, batch: BatchView) -> Tensor:
    return stream.movedim(batch.net.layout.sample_axis, 0).flatten(1)


def _pearson(a: Tensor, b: Tensor) -> float:
    """Pearson correlation; NaN where one of them does not vary."""
    a, b = a - a.mean(), b - b.mean()
    a, b = a / a.abs().max(), b / b.abs().max()
    return float((a * b).sum() / (a.norm() * b.norm()))
