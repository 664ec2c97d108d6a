"""`diagnose`: the protocol on any network, in one call."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from torch import nn

from depthgauge.diagnosis.checked_network import check_network
from depthgauge.diagnosis.credit_gauges import credit_gauges, readings_of
from depthgauge.diagnosis.missing_readings import readings_without_reference
from depthgauge.diagnosis.remarks import LabelCheck, pinned_norm_remarks
from depthgauge.diagnosis.report import Report
from depthgauge.diagnostics.readings import seed_readings
from depthgauge.errors import UserError
from depthgauge.gauges.accuracy import AccuracyGauge
from depthgauge.gauges.credit import Convention
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
from depthgauge.losses.cross_entropy import CrossEntropy
from depthgauge.losses.function_loss import AnyLoss, FunctionLoss
from depthgauge.nets.find_blocks import Blocks
from depthgauge.nets.initial_weights import Initial, InitialWeights
from depthgauge.nets.layout import Layout
from depthgauge.nets.stream_reader import Returns, StreamReader
from depthgauge.rules.credit_function import CreditFunction
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
    loss: AnyLoss = "cross_entropy",
    thresholds: Thresholds | None = None,
    *,
    layout: Layout | None = None,
    returns: Returns = "auto",
    convention: Convention = "depthgauge",
    plain: nn.Module | None = None,
    samples: int | None = None,
    initial: Initial | None = None,
) -> Report:
    """Measure every gauge on `model`, and return the readings with the verdict.

    Args:
        model: a trained network. It is measured in eval mode and left exactly as it was.
        eval_batches: pairs (inputs, labels), or mappings with `labels`. Each batch is read once.
            The protocol uses 10 batches of 128 test samples; stability needs at least 8 batches.
        headline_acc: the reported accuracy of the network, as a share. If it is left out, the
            accuracy is measured on the batches.
        frozen_baseline_acc: the accuracy of the same rule with blocks frozen at initialisation.
            Without it depth utility (D3) is not measured, and depth stays untested.
        bp_depth_gain: the accuracy that backpropagation gains from depth on this task. D3 does not
            apply if this gain is below the threshold of D3.
        credit: a function from a batch to the credit that the rule applies: L + 1 tensors, if the
            network has L blocks (see `depthgauge.gauges.credit`). Alignment Γ, perturbation
            correlation ρ and nudging are measured only with this function.
        method_name: the name of the learning rule.
        notes: a text that the report keeps.
        blocks: the dotted path to the blocks, or the modules; by default `model.blocks`.
        loss: a function from logits and labels to the loss of each sample.
        thresholds: the thresholds of the diagnostics; by default those of the protocol.
        layout: the meaning of the stream's axes, if it is not the usual one.
        returns: whether blocks return the stream or a branch, if this cannot be detected.
        convention: the convention of D2, Γ, ρ and nudging: "depthgauge" or "published".
        plain: a plain twin of the network, needed if layers define their own backward pass. The
            twin is a module with the same parameter names, which computes the same with an
            ordinary backward pass. It gets the network's weights and is read in its place.
        samples: the number of evaluation samples on which the given accuracies were measured. With
            it, D3 includes the noise of the evaluation set. It is not needed for an accuracy that
            is measured on the batches.
        initial: the network before training, or a copy of its state dict before training; without
            it, rewind is not measured.
    """
    native = StreamReader(model, blocks, loss=loss, layout=layout, returns=returns)
    is_share = isinstance(native.loss, CrossEntropy | FunctionLoss)  # R² may be negative
    lowest, least_gain = (0, -1) if is_share else (-math.inf, -math.inf)
    headline_acc = _share("headline_acc", headline_acc, lowest)
    frozen_baseline_acc = _share("frozen_baseline_acc", frozen_baseline_acc, lowest)
    bp_depth_gain = _share("bp_depth_gain", bp_depth_gain, least_gain, 1 if is_share else math.inf)
    weights = None if initial is None else InitialWeights(initial, native)
    first, batches = peek_first(eval_batches)
    checked = check_network(native, plain, first)
    del first  # do not keep a batch in memory
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
    headline, where = headline_acc, "as given"
    if headline is None:
        headline, where = measured.value, measured.measured_on
        samples = accuracy.labels if accuracy.is_share else None
    depth = read_depth(headline, frozen_baseline_acc, bp_depth_gain, where, samples)
    readings = NetworkReadings(
        depth=depth,
        reference_check=checked.reference_check,
        plain_check=checked.plain_check,
        **taken,
        **missing,
    )
    pinned = pinned_norm_remarks(readings.scale)
    seed, used = seed_readings(readings), thresholds or Thresholds()
    return Report(
        method_name=method_name,
        notes=notes,
        judgement=judge([seed], used, bp_depth_gain),
        thresholds=used,
        sensitivity=sensitivity([seed], used, bp_depth_gain),
        remarks=(*checked.remarks, *pinned, *labels.remarks(measured, depth)),
        **vars(readings),
    )


def _share(name: str, value: Any, lowest: float, highest: float = 1) -> float | None:
    """Return an accuracy or a gain as a float; refuse a percentage.

    The value may be a Python number, a NumPy number or a tensor.
    """
    if value is None:
        return None
    share = float(value)
    if not lowest <= share <= highest:
        raise UserError(f"{name} is {share!r}; give a share from {lowest:g} to {highest:g}")
    return share
