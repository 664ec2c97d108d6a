"""Nudging: measure whether the loss falls when the stream moves a small step against the credit."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from depthgauge.gauges.credit import Convention, checked_credit
from depthgauge.gauges.float64_copy import Float64Copy
from depthgauge.gauges.norms import unit_vectors
from depthgauge.gauges.perturbation import relative_size
from depthgauge.gauges.reading import Reading, SampleCount, none_if_nan
from depthgauge.nets.batch_view import BatchView, along_axis
from depthgauge.rules.credit_function import CreditFunction

SAMPLES = 256
STEP = 1e-2


@dataclass(frozen=True)
class NudgingReading(Reading):
    """The mean change of the loss at each layer; `fell` is the share of samples whose loss fell."""

    fell: tuple[float | None, ...] = ()


class NudgingGauge:
    """The mean change of the loss when the stream h moves by −η·a/‖a‖, against its credit a.

    A negative change is good. For a sample whose stream has d entries, η is 1e-2·‖h‖/√d; in the
    published convention η is 0.01 for all samples. The change is computed in float64. Samples
    whose credit is exactly zero do not count.
    """

    def __init__(
        self,
        credit: CreditFunction,
        convention: Convention = "depthgauge",
        samples: int = SAMPLES,
    ) -> None:
        self._credit, self._convention, self._samples = credit, convention, samples
        self._changes: list[Tensor] = []
        self._count, self._copy = SampleCount(), Float64Copy()

    def see(self, batch: BatchView) -> None:
        """Measure how a nudge at each boundary changes the loss; stop after enough samples."""
        exact = self._copy.of(batch)
        if exact is None or self._count.samples >= self._samples:
            return
        self._count.add(batch)
        before = exact.losses(batch.inputs, batch.labels)
        changes = []
        for layer, credit in enumerate(checked_credit(self._credit, batch)):
            shift = -self._step(batch, layer, credit)
            after = exact.losses(batch.inputs, batch.labels, shift=(layer, shift))
            points = shift.movedim(batch.net.layout.sample_axis, 0).flatten(1).any(1)
            changes.append(torch.where(points, after - before, torch.nan))
        self._changes.append(torch.stack(changes))

    def _step(self, batch: BatchView, layer: int, credit: Tensor) -> Tensor:
        axis = batch.net.layout.sample_axis
        by_sample = credit.double().movedim(axis, 0)
        unit = unit_vectors(by_sample.flatten(1)).view(by_sample.shape).movedim(0, axis)
        if self._convention == "published":
            return STEP * unit
        return along_axis(STEP * relative_size(batch, batch.states[layer]), unit, axis) * unit

    def reading(self) -> NudgingReading:
        """Return the mean change at each layer; `value` is the mean over the blocks."""
        changes = torch.cat(self._changes, -1) if self._changes else torch.empty(0, 0)
        means = changes.nanmean(-1)
        fell = torch.where(changes.isnan(), torch.nan, (changes < 0).double()).nanmean(-1)
        step = "1e-2·‖h‖/√d" if self._convention == "depthgauge" else "0.01"
        return NudgingReading(
            name="nudging",
            value=none_if_nan(float(means[1:].mean())),
            per_layer=tuple(none_if_nan(value) for value in means.tolist()),
            unit="change of the loss",
            convention=f"{self._convention}; η = {step}, float64",
            measured_on=str(self._count),
            note=self._copy.note
            or ("" if bool(means.isfinite().all()) else "undefined where the credit is zero"),
            fell=tuple(none_if_nan(value) for value in fell.tolist()),
        )
