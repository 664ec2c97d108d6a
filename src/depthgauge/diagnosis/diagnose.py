"""`diagnose`: the protocol on anybody's network, in one call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch import nn

from depthgauge.diagnosis.checked_network import check_network
from depthgauge.diagnosis.credit_gauges import credit_gauges, readings_of
from depthgauge.diagnosis.missing_readings import readings_without_reference
from depthgauge.diagnosis.remarks import LabelCheck, on_pinned_norm
from depthgauge.diagnosis.report import Report
from depthgauge.diagnostics.readings import seed_readings
from depthgauge.errors import UserError
from depthgauge.gauges.accuracy import AccuracyGauge
from depthgauge.gauges.credit import Convention, CreditFunction
from depthgauge.gauges.depth import read_depth
from depthgauge.gauges.lesion import LesionGauge
from depthgauge.gauges.measure import measure, peek_first
from depthgauge.gauges.network_readings import NetworkReadings
from depthgauge.gauges.numerics import NumericsGauge
from depthgauge.gauges.reading import Gauge
from depthgauge.gauges.reference import ReferenceGauge
from depthgauge.gauges.rewind import RewindGauge
from depthgauge.gauges.scale import ScaleGauge
from depthgauge.gauges.stability import StabilityGauge
from depthgauge.nets.find_blocks import Blocks
from depthgauge.nets.initial_weights import Initial, InitialWeights
from depthgauge.nets.layout import Layout
from depthgauge.nets.sample_loss import Loss, cross_entropy
from depthgauge.nets.stream_reader import Returns, StreamReader
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
    plain: nn.Module | None = None,
    samples: int | None = None,
    initial: Initial | None = None,
) -> Report:
    """Read every gauge off `model` and say what they come to.

    Args:
        model: a trained network. It is measured in eval mode and left exactly as it was.
        eval_batches: pairs (inputs, labels), or mappings with `labels`; seen once, one at a time.
            The protocol uses 10 batches of 128 test samples; stability needs at least 8.
        headline_acc: its published accuracy, as a share; measured on the batches if left out.
        samples: of how many evaluation samples the accuracies are; those that are seen, where the
            accuracy is measured here. D3 then counts the noise of that choice.
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
        convention: of D2, Γ, ρ and nudging: ours, or the published one.
        plain: a twin of the network, for one whose layers define their own backward pass: a module
            with the same parameter names that computes the same, with an ordinary backward pass.
            It is given the network's weights, and everything is read off it.
        initial: the network before training, or a copy of its state dict from then; gives rewind.
    """
    headline_acc = _share("headline_acc", headline_acc, 0)
    frozen_baseline_acc = _share("frozen_baseline_acc", frozen_baseline_acc, 0)
    bp_depth_gain = _share("bp_depth_gain", bp_depth_gain, -1)
    native = StreamReader(model, blocks, loss=loss, layout=layout, returns=returns)
    weights = None if initial is None else InitialWeights(initial, native)
    first, batches = peek_first(eval_batches)
    checked = check_network(native, plain, first)
    del first  # no batch is kept
    accuracy = AccuracyGauge()
    gauges: dict[str, Gauge] = {
        "scale": ScaleGauge(),
        "lesion": LesionGauge(),
        "rewind": RewindGauge(weights),
        "accuracy": accuracy,
    }
    missing = {}
    if checked.used_check.is_true:
        in_own_precision = checked.native if checked.net is not checked.native else None
        gauges |= {
            "reference": ReferenceGauge(convention),
            "stability": StabilityGauge(),
            "numerics": NumericsGauge(in_own_precision),
        }
        gauges |= credit_gauges(credit, convention) if credit is not None else {}
    else:
        reason = f"autograd's gradient is not the true one in {checked.used_check.places}"
        missing = readings_without_reference(reason, with_credit=credit is not None)
    labels = LabelCheck()
    measure(checked.net, batches, [*gauges.values(), labels])
    taken = readings_of(gauges)
    measured = taken["accuracy"]
    headline = headline_acc if headline_acc is not None else measured.value
    where = measured.measured_on if headline_acc is None else "as given"
    if headline_acc is None:
        samples = accuracy.labels
    depth = read_depth(headline, frozen_baseline_acc, bp_depth_gain, where, samples)
    read = NetworkReadings(
        depth=depth,
        reference_check=checked.reference_check,
        plain_check=checked.plain_check,
        **taken,
        **missing,
    )
    seed, used = seed_readings(read), thresholds or Thresholds()
    return Report(
        method_name=method_name,
        notes=notes,
        judgement=judge([seed], used, bp_depth_gain),
        thresholds=used,
        sensitivity=sensitivity([seed], used, bp_depth_gain),
        remarks=(*checked.remarks, *on_pinned_norm(read.scale), *labels.remarks(measured, depth)),
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
