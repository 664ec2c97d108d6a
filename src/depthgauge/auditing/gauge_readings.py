"""Measure every gauge on trained networks."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import torch
from pydantic import JsonValue
from torch import Tensor, nn

from depthgauge.auditing.networks import NetworkUnderAudit
from depthgauge.auditing.null import SAMPLES, calibrate_null, reason_missing
from depthgauge.auditing.trained_network import TrainedNetwork, evaluation_batches, first_samples
from depthgauge.config import NetConfig
from depthgauge.diagnosis.credit_gauges import credit_gauges, readings_of
from depthgauge.diagnosis.diagnose import diagnose
from depthgauge.diagnosis.precision import in_float32
from depthgauge.diagnosis.report import Report
from depthgauge.errors import UserError, one_line
from depthgauge.gauges.alignment import AlignmentGauge
from depthgauge.gauges.measure import measure
from depthgauge.gauges.norms import BATCH_READ, BATCHES_READ
from depthgauge.gauges.numerics import NumericsGauge, NumericsReading
from depthgauge.gauges.perturbation_published import PublishedPerturbation
from depthgauge.nets.probed import shape_of
from depthgauge.nets.registry import initial_net
from depthgauge.rules.credit_function import formed_credit, rule_credit
from depthgauge.tasks.base import Task
from depthgauge.training.threads import use_threads
from depthgauge.verdict.first_fired import first_fired, readings_from_metrics
from depthgauge.verdict.thresholds import Thresholds

log = logging.getLogger("depthgauge")

NULL_DRAWS = 200

SMALL = 200_000
"""The number of parameters below which a network is read faster with a single thread."""


@dataclass(frozen=True)
class NetworkReport:
    """A network, its report, and the epoch at which each diagnostic first fired.

    The report is None if training diverged.
    """

    network: NetworkUnderAudit
    report: Report | None
    first_fired: Mapping[str, int | None]


def read_networks(
    networks: Sequence[NetworkUnderAudit],
    task: Task,
    thresholds: Thresholds,
    bp_gain: float | None,
    on_read: Callable[[str], None] = lambda name: None,
    *,
    as_published: bool = False,
) -> list[NetworkReport]:
    """Measure every gauge on every network, and return a report on each network.

    After each network, `on_read` is called with the network's name. With `as_published`, the
    perturbation correlation ρ is also measured by the published convention, for comparisons with
    published figures.
    """
    reports = []
    for network in networks:
        report = None
        if network.trained is not None:
            with use_threads(reading_threads(network.trained.net)):
                report = _report(network, network.trained, task, bp_gain, thresholds)
                for extend in (partial(_add_credit, as_published=as_published), _add_null):
                    report = _extend_if_possible(extend, report, network.trained, task)
        fired = first_fired(readings_from_metrics(network.epochs), thresholds)
        reports.append(NetworkReport(network, report, fired))
        on_read(f"{network.label}, seed {network.seed}")
    return reports


def reading_threads(net: nn.Module) -> int:
    """Return the number of threads for reading a network: one for a small network, else all."""
    is_small = sum(parameter.numel() for parameter in net.parameters()) < SMALL
    return 1 if is_small else torch.get_num_threads()


def _report(
    network: NetworkUnderAudit,
    trained: TrainedNetwork,
    task: Task,
    bp_gain: float | None,
    thresholds: Thresholds,
) -> Report:
    batches = evaluation_batches(task, BATCHES_READ)
    report = diagnose(
        trained.net,
        batches,
        headline_acc=network.accuracy,
        frozen_baseline_acc=network.frozen,
        samples=len(task.evaluation) if task.has_flags else None,
        bp_depth_gain=bp_gain,
        method_name=network.label,
        blocks=trained.blocks,
        layout=trained.layout,
        loss=trained.loss,
        thresholds=thresholds,
        initial=trained.initial(task),
    )
    if trained.in_bf16:
        report = replace(report, numerics=_numerics_with_bf16(trained, batches))
    return replace(report, source=network.source.model_dump(exclude_none=True))


def _numerics_with_bf16(
    trained: TrainedNetwork, batches: Sequence[tuple[Tensor, Tensor]]
) -> NumericsReading:
    """Compare the gradients in float32 and in bfloat16 with the float64 gradient (D2n)."""
    net = trained.reader()
    gauge = NumericsGauge(net.in_precision(torch.bfloat16))
    measure(net, batches[:1], [gauge])
    return gauge.reading()


def _extend_if_possible(
    extend: Callable[[Report, TrainedNetwork, Task], Report],
    report: Report,
    trained: TrainedNetwork,
    task: Task,
) -> Report:
    """Return the report that `extend` makes from `report`.

    If the rule's code raises an error, log the error and return `report` unchanged.
    """
    try:
        return extend(report, trained, task)
    except UserError:
        raise
    except Exception as error:
        log.warning("the credit of %s cannot be read: %s", trained.name, one_line(error))
        return report


def _add_credit(
    report: Report, trained: TrainedNetwork, task: Task, *, as_published: bool
) -> Report:
    """Add the readings of credit to the report, if the rule and its feedback are known."""
    if trained.rule is None or trained.feedback is None:
        return report
    credit = rule_credit(trained.rule, trained.feedback)
    gauges = credit_gauges(credit, "depthgauge")
    gauges["alignment_published"] = AlignmentGauge(credit, "published")
    if as_published:
        formed = formed_credit(trained.rule, trained.feedback)
        gauges["perturbation_published"] = PublishedPerturbation(formed)
    x, y = first_samples(task, SAMPLES)
    batches = zip(torch.split(x, BATCH_READ), torch.split(y, BATCH_READ), strict=True)
    measure(in_float32(trained.reader())[0], batches, list(gauges.values()))
    return replace(report, **readings_of(gauges))


def _add_null(report: Report, trained: TrainedNetwork, task: Task) -> Report:
    """Add the alignment of fresh feedback to the report, if the network can get fresh feedback."""
    if reason_missing(trained) is not None:
        return report
    null = calibrate_null(trained, first_samples(task, SAMPLES), NULL_DRAWS)
    return replace(report, null=null)


def read_untrained(
    net: NetConfig, task: Task, seeds: Sequence[int], thresholds: Thresholds
) -> dict[str, Report]:
    """Measure the untrained network of each seed, and return the reports by seed.

    The reports are a control: no diagnostic may fire on an untrained network.
    """
    reports, batches = {}, evaluation_batches(task, BATCHES_READ)
    for seed in seeds:
        untrained = initial_net(net, task, seed)
        with use_threads(reading_threads(untrained)):
            report = diagnose(
                untrained,
                batches,
                blocks=net.block_path,
                layout=shape_of(untrained, net, task).layout,
                loss=task.loss,
                method_name="untrained",
                notes="at initialisation",
                thresholds=thresholds,
            )
        source: dict[str, JsonValue] = {"net": net.model_dump(mode="json"), "seed": seed}
        reports[str(seed)] = replace(report, source=source)
    return reports
