"""D2n, numerics: measure whether the gradient is right although its numbers are rounded."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch

from depthgauge.errors import one_line
from depthgauge.gauges.norms import cosines, median_over_samples
from depthgauge.gauges.reading import Reading, SampleCount
from depthgauge.nets.batch_view import BatchView
from depthgauge.nets.stream_reader import StreamReader

Cosines = tuple[float | None, ...]


@dataclass(frozen=True)
class NumericsReading(Reading):
    """The cosine of the measured gradient with the float64 gradient.

    Attributes:
        per_layer: the median cosine over samples at each layer; `value` is the smallest median.
        of_native: the median cosines in the network's own precision, by the precision's name.
            Empty unless this precision is below float32.
    """

    of_native: dict[str, Cosines] = field(default_factory=dict)


class NumericsGauge:
    """Compares the gradient of the first batch with the gradient of a float64 copy of the network.

    Args:
        native: the network in its own precision; None if the batches are read in this precision.
    """

    def __init__(self, native: StreamReader | None = None) -> None:
        self._native = native
        self._per_layer: Cosines | None = None
        self._of_native: dict[str, Cosines] = {}
        self._count, self._note, self._dtype = SampleCount(), "", torch.float32

    def see(self, batch: BatchView) -> None:
        """Measure the first batch again in float64; ignore later batches."""
        if self._count.batches:
            return
        self._count.add(batch)
        self._dtype = batch.net.dtype
        if self._dtype == torch.float64:
            self._note = "the network is measured in float64 itself"
            return
        try:
            exact = batch.net.in_precision(torch.float64).see(batch.inputs, batch.labels)
        except Exception as error:
            self._note = f"the network cannot be run in float64 ({one_line(error)})"
            return
        self._per_layer = _compare(batch, exact)
        if self._native is not None:
            self._of_native = self._see_native(exact)

    def _see_native(self, exact: BatchView) -> dict[str, Cosines]:
        net = self._native
        if net is None:
            return {}
        name = str(net.dtype).removeprefix("torch.")
        try:
            return {name: _compare(net.see(exact.inputs, exact.labels), exact)}
        except Exception as error:
            self._note = f"the network cannot be run in {name} ({one_line(error)})"
            return {}

    def reading(self) -> NumericsReading:
        """Return the cosine at each layer; `value` is the smallest."""
        known = [cosine for cosine in self._per_layer or () if cosine is not None]
        undefined = self._per_layer is not None and len(known) < len(self._per_layer)
        return NumericsReading(
            name="D2n numerics",
            value=None if undefined else min(known, default=None),
            per_layer=self._per_layer or (),
            unit="cosine",
            convention=f"{str(self._dtype).removeprefix('torch.')} against float64, median over "
            "samples, least over layers",
            measured_on=str(self._count),
            note=self._note or ("undefined: the gradient is exactly zero" if undefined else ""),
            of_native=self._of_native,
        )


def _compare(batch: BatchView, exact: BatchView) -> Cosines:
    """Return the median cosine at each layer, over samples whose exact gradient is not zero.

    The cosine counts as 0 if the measured gradient is zero and the exact one is not.
    """
    return tuple(
        _median_cosine(a.flatten(1), b.flatten(1))
        for a, b in zip(_by_sample(batch), _by_sample(exact), strict=True)
    )


def _median_cosine(measured: torch.Tensor, exact: torch.Tensor) -> float | None:
    counted = exact.any(-1)
    if not bool(counted.any()):
        return None
    known = cosines(measured[counted], exact[counted]).nan_to_num(nan=0.0)
    return float(median_over_samples(known))


def _by_sample(batch: BatchView) -> list[torch.Tensor]:
    layout = batch.net.layout
    return [layout.arrange(gradient) for gradient in batch.unit_gradients]
