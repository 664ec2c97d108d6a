"""`diagnose`: the protocol on anybody's network, in one call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch import nn

from depthgauge.diagnosis.credit_quality import credit_gauges, readings_of
from depthgauge.diagnosis.precision import in_float32
from depthgauge.diagnosis.remarks import LabelWatch
from depthgauge.diagnosis.report import Report
from depthgauge.diagnostics.readings import seed_readings
from depthgauge.errors import UserError
from depthgauge.gauges.accuracy import AccuracyGauge
from depthgauge.gauges.credit import Convention, CreditFunction
from depthgauge.gauges.depth import read_depth
from depthgauge.gauges.lesion import LesionGauge
from depthgauge.gauges.measure import measure
from depthgauge.gauges.network_readings import NetworkReadings
from depthgauge.gauges.numerics import NumericsGauge
from depthgauge.gauges.reference import ReferenceGauge
from depthgauge.gauges.rewind import RewindGauge
from depthgauge.gauges.scale import ScaleGauge
from depthgauge.gauges.stability import StabilityGauge
from depthgauge.nets.find_blocks import Blocks
from depthgauge.nets.initial_weights import Initial, InitialWeights
from depthgauge.nets.layout import Layout
from depthgauge.nets.opened import OpenedNet, Returns
from depthgauge.nets.sample_loss import Loss, cross_entropy
from depthgauge.verdict.judge import judge
from depthgauge.verdict.sensitivity import sensitivity
from depthgauge.verdict.thresholds import Thresholds


def diagnose(  # noqa: PLR0917 – the order is part of the interface
    model: nn.Module,
    eval_batches: Iterable[Any],
    headline_acc: float | None = None,
    frozen_baseline_acc: float | None = None,
    bp_depth_gain: float | None = None,
    credit: CreditFunction | None = None,
    method_name: str = "unnamed method",
    notes: str = "",
    blocks: Blocks = None,
    loss: Loss = cross_entropy,
    thresholds: Thresholds | None = None,
    *,
    layout: Layout | None = None,
    returns: Returns = "auto",
    convention: Convention = "depthgauge",
    initial: Initial | None = None,
) -> Report:
    """Read every gauge off `model` and say what they come to.

    Args:
        model: a trained network. It is measured in eval mode and left exactly as it was.
        eval_batches: pairs (inputs, labels), or mappings with `labels`; seen once, one at a time.
            The protocol uses 10 batches of 128 test samples; stability needs at least 8.
        headline_acc: its published accuracy, as a share; measured on the batches if left out.
        frozen_baseline_acc: accuracy of the same rule with the blocks frozen at initialisation;
            without it D3 is not measured and depth stays untested.
        bp_depth_gain: what backpropagation gains from depth on this task; where that is less than
            the threshold of D3, D3 does not apply.
        credit: from a batch to the L + 1 credit tensors that the rule applies (see
            `depthgauge.gauges.credit`); gives Γ, ρ and nudging.
        method_name: what the network was trained with.
        notes: anything to be kept with the report.
        blocks: dotted path to the blocks, or the modules; by default `model.blocks`.
        loss: each sample's own loss from logits and labels.
        thresholds: where the diagnostics fire; the protocol's by default.
        layout: which axes of the stream are what, where that is not the usual.
        returns: whether blocks return the stream or a branch, where it cannot be seen.
        convention: of Γ, ρ and nudging: ours, or the published one.
        initial: the network before training, or a copy of its state dict from then; gives rewind.
    """
    headline_acc = _share("headline_acc", headline_acc, 0)
    frozen_baseline_acc = _share("frozen_baseline_acc", frozen_baseline_acc, 0)
    bp_depth_gain = _share("bp_depth_gain", bp_depth_gain, -1)
    native = OpenedNet(model, blocks, loss=loss, layout=layout, returns=returns)
    net, remarks = in_float32(native)
    scale, reference, stability = ScaleGauge(), ReferenceGauge(), StabilityGauge()
    numerics = NumericsGauge(native if net is not native else None)
    rewind = RewindGauge(None if initial is None else InitialWeights(initial, native))
    lesion, accuracy, labels = LesionGauge(), AccuracyGauge(), LabelWatch()
    examined = credit_gauges(credit, convention) if credit is not None else {}
    measure(
        net,
        eval_batches,
        [
            *(scale, reference, stability, numerics, lesion, rewind, accuracy, labels),
            *examined.values(),
        ],
    )
    measured = accuracy.reading()
    headline = headline_acc if headline_acc is not None else measured.value
    where = measured.measured_on if headline_acc is None else "as given"
    depth = read_depth(headline, frozen_baseline_acc, bp_depth_gain, where)
    read = NetworkReadings(
        scale=scale.reading(),
        reference=reference.reading(),
        numerics=numerics.reading(),
        stability=stability.reading(),
        depth=depth,
        lesion=lesion.reading(),
        rewind=rewind.reading(),
        accuracy=measured,
        **readings_of(examined),
    )
    seed, used = seed_readings(read), thresholds or Thresholds()
    return Report(
        method_name=method_name,
        notes=notes,
        judgement=judge([seed], used, bp_depth_gain),
        thresholds=used,
        sensitivity=sensitivity([seed], used, bp_depth_gain),
        remarks=(*remarks, *labels.remarks(measured, depth)),
        **vars(read),
    )


def _share(name: str, value: Any, lowest: float) -> float | None:
    """A plain number, also from numpy or a tensor; accuracies are shares, not per cent."""
    if value is None:
        return None
    share = float(value)
    if not lowest <= share <= 1:
        raise UserError(f"{name} is given as a share from {lowest:g} to 1, not {share!r}")
    return share
