"""`watch`: read diagnostics in the user's own training loop.

`watch` reads the diagnostics that a study records after every epoch.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from depthgauge.diagnosis.precision import in_float32
from depthgauge.diagnostics.contract import Readings
from depthgauge.diagnostics.readings import epoch_readings
from depthgauge.diagnostics.registry import diagnostics
from depthgauge.gauges.credit import Convention
from depthgauge.gauges.epoch_metrics import EpochMetrics
from depthgauge.gauges.measure import measure
from depthgauge.gauges.reading import BatchConsumer
from depthgauge.gauges.reference import ReferenceGauge
from depthgauge.gauges.reference_check import ReferenceCheckReading, check_reference
from depthgauge.gauges.scale import ScaleGauge
from depthgauge.losses.function_loss import AnyLoss
from depthgauge.nets.batch import split_batch
from depthgauge.nets.find_blocks import Blocks
from depthgauge.nets.layout import Layout
from depthgauge.nets.stream_reader import NotFiniteError, Returns, StreamReader
from depthgauge.verdict.first_fired import EpochReadings, first_fired
from depthgauge.verdict.thresholds import Thresholds

log = logging.getLogger("depthgauge")


@dataclass(frozen=True)
class Watched:
    """The readings of one step.

    Attributes:
        step: the number of the step, given by the caller or counted from 0.
        readings: the readings of the diagnostics by name: growth, gradient, error_share.
        residual_norms: the median norms of the stream, ‖h_0‖ … ‖h_L‖; empty if the weights are not
            finite.
        bp_grad_norms: the median norms of the gradient at each h_l; empty if the weights are not
            finite, or if autograd's gradient is not the true gradient.
    """

    step: int
    readings: Readings
    residual_norms: tuple[float, ...] = ()
    bp_grad_norms: tuple[float, ...] = ()


class Watch:
    """Reads the diagnostics of a network at every call; `history` keeps the readings.

    The first call checks whether autograd gives the true gradient; `reference_check` keeps the
    result. If autograd's gradient is wrong, gradients are not read.
    """

    def __init__(
        self,
        open_net: Callable[[], StreamReader],
        thresholds: Thresholds,
        log_dir: str | Path | None,
        convention: Convention = "depthgauge",
    ) -> None:
        open_net()  # a wrong path to the blocks raises now, before training starts
        self._open, self._thresholds, self._convention = open_net, thresholds, convention
        self.history: list[Watched] = []
        self.reference_check: ReferenceCheckReading | None = None
        self._writer = _writer(log_dir)

    def __call__(self, inputs: Any, labels: Tensor, step: int | None = None) -> Watched:
        """Read the network on one batch; without `step`, steps are counted from 0."""
        step = len(self.history) if step is None else step
        watched = self._read(inputs, labels, step)
        self.history.append(watched)
        self._log(watched)
        return watched

    def _read(self, inputs: Any, labels: Tensor, step: int) -> Watched:
        """Return the readings of one batch; weights that are not finite count as diverged."""
        line: EpochMetrics = {"epoch": step, "train_loss": None, "diverged": False}
        try:
            net, _ = in_float32(self._open())
        except NotFiniteError:
            return Watched(step, epoch_readings(line | {"diverged": True}))
        self._check(net, inputs, labels)
        scale, reference = ScaleGauge(), ReferenceGauge(self._convention)
        gauges: list[BatchConsumer] = [scale, reference]
        if self.reference_check and not self.reference_check.is_true:
            net, gauges = net.without_gradients(), [scale]
        measure(net, [(inputs, labels)], gauges)
        h = scale.reading()
        line["h_norm"] = list(map(_finite, h.residual_norms))
        if reference not in gauges:
            return Watched(step, epoch_readings(line), h.residual_norms)
        g = reference.reading()
        line["g_norm"] = list(map(_finite, g.per_layer))
        line["g_over_e"] = _finite(g.over_error)
        gradients = tuple(norm or 0.0 for norm in g.per_layer)
        return Watched(step, epoch_readings(line), h.residual_norms, gradients)

    def _check(self, net: StreamReader, inputs: Any, labels: Tensor) -> None:
        """Check the gradient, if no check before has shown anything.

        A check on a gradient of zero shows nothing.
        """
        if self.reference_check is not None and not self.reference_check.is_vacuous:
            return
        inputs, labels = split_batch((inputs, labels))
        self.reference_check = check_reference(net, inputs, len(labels))
        if not self.reference_check.is_true:
            log.warning(
                "watch reads no gradients: %s. To read them, watch a twin with the same parameters "
                "and an ordinary backward pass.",
                self.reference_check.complaint,
            )

    @property
    def first_fired(self) -> dict[str, int | None]:
        """Return the step at which each diagnostic first fired; None if it has not fired."""
        readings = (EpochReadings(watched.step, watched.readings) for watched in self.history)
        return first_fired(readings, self._thresholds)

    def _log(self, watched: Watched) -> None:
        if self._writer is None:
            return
        scalars = {
            f"{diagnostic.id} {quantity.name.replace('_', ' ')}": value
            for diagnostic in diagnostics()
            for quantity in diagnostic.recorded
            if (value := watched.readings[quantity.name]) is not None
        }
        for layer, norm in enumerate(watched.residual_norms):
            scalars[f"stream norm/{layer}"] = norm
        for layer, norm in enumerate(watched.bp_grad_norms):
            scalars[f"gradient norm/{layer}"] = norm
        for name, value in scalars.items():
            self._writer.add_scalar(f"depthgauge/{name}", value, watched.step)
        self._writer.flush()


def _finite(value: float | None) -> float | None:
    """Return the value if it is finite, else None, as in the metrics of a run."""
    return value if value is not None and math.isfinite(value) else None


def _writer(log_dir: str | Path | None) -> Any:
    """Return a TensorBoard writer; None without `log_dir`, or if TensorBoard is not installed."""
    if log_dir is None:
        return None
    try:
        from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415
    except ImportError:
        return None
    return SummaryWriter(str(log_dir))


def watch(
    model: nn.Module,
    blocks: Blocks = None,
    *,
    loss: AnyLoss = "cross_entropy",
    layout: Layout | None = None,
    returns: Returns = "auto",
    thresholds: Thresholds | None = None,
    log_dir: str | Path | None = "runs/depthgauge-watch",
    convention: Convention = "depthgauge",
) -> Watch:
    """Watch the diagnostics in your own training loop, in two lines.

        watching = watch(model, blocks="transformer.h")
        ...
        watching(inputs, labels)        # after each epoch, on a held-out batch

    The network is left as it was. `watching.history` keeps the readings. If TensorBoard is
    installed, the readings are also logged under `log_dir`; `log_dir=None` turns logging off. The
    other arguments have the same meaning as in `diagnose`.
    """

    def open_net() -> StreamReader:
        return StreamReader(model, blocks, loss=loss, layout=layout, returns=returns)

    return Watch(open_net, thresholds or Thresholds(), log_dir, convention)
