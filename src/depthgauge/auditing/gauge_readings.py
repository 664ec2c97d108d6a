"""Reading every gauge off trained networks."""

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
from depthgauge.nets.registry import initial_net
from depthgauge.nets.stream_reader import StreamReader
from depthgauge.rules.credit_function import formed_credit, rule_credit
from depthgauge.tasks.base import Task
from depthgauge.training.threads import with_threads
from depthgauge.verdict.first_fired import first_fired, readings_from_metrics
from depthgauge.verdict.thresholds import Thresholds

log = logging.getLogger("depthgauge")

NULL_DRAWS = 200

SMALL = 200_000
"""Parameters of a network below which threads that share its products only wait for each other."""


@dataclass(frozen=True)
class NetworkReport:
    """A network and its report; no report where training diverged."""

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
    """Read every gauge off every network; `on_read` hears which one was read.

    With `as_published`, ρ is read as it was published too, for published figures.
    """
    read = []
    for network in networks:
        report = None
        if network.trained is not None:
            with with_threads(reading_threads(network.trained.net)):
                report = _report(network, network.trained, task, bp_gain, thresholds)
                for more in (partial(_with_credit, as_published=as_published), _with_null):
                    report = _if_the_rule_can(more, report, network.trained, task)
        fired = first_fired(readings_from_metrics(network.epochs), thresholds)
        read.append(NetworkReport(network, report, fired))
        on_read(f"{network.label}, seed {network.seed}")
    return read


def reading_threads(net: nn.Module) -> int:
    """Return how many threads read a network: all for a large one, one for a small one."""
    small = sum(parameter.numel() for parameter in net.parameters()) < SMALL
    return 1 if small else torch.get_num_threads()


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
        samples=len(task.evaluation),
        bp_depth_gain=bp_gain,
        method_name=network.label,
        blocks=trained.blocks,
        thresholds=thresholds,
        initial=trained.initial(task),
    )
    if trained.in_bf16:
        report = replace(report, numerics=_numerics_with_bf16(trained, batches))
    return replace(report, source=network.source.model_dump(exclude_none=True))


def _numerics_with_bf16(
    trained: TrainedNetwork, batches: Sequence[tuple[Tensor, Tensor]]
) -> NumericsReading:
    """D2n, also of the gradient in the precision of training."""
    net = StreamReader(trained.net)
    gauge = NumericsGauge(net.in_precision(torch.bfloat16))
    measure(net, batches[:1], [gauge])
    return gauge.reading()


def _if_the_rule_can(
    more: Callable[[Report, TrainedNetwork, Task], Report],
    report: Report,
    trained: TrainedNetwork,
    task: Task,
) -> Report:
    """The report with more readings, or as it is where the rule's own code raises an error."""
    try:
        return more(report, trained, task)
    except UserError:
        raise
    except Exception as error:
        log.warning("the credit of %s cannot be read: %s", trained.name, one_line(error))
        return report


def _with_credit(
    report: Report, trained: TrainedNetwork, task: Task, *, as_published: bool
) -> Report:
    """The report with the readings of the credit, where the rule and its feedback are known."""
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
    measure(in_float32(StreamReader(trained.net))[0], batches, list(gauges.values()))
    return replace(report, **readings_of(gauges))


def _with_null(report: Report, trained: TrainedNetwork, task: Task) -> Report:
    """The report with the null of the credit's alignment, where there is one."""
    if trained.rule is None or trained.feedback is None or reason_missing(trained) is not None:
        return report
    drawn = calibrate_null(trained, first_samples(task, SAMPLES), NULL_DRAWS)
    return replace(report, null=drawn)


def read_untrained(
    net: NetConfig, task: Task, seeds: Sequence[int], thresholds: Thresholds
) -> dict[str, Report]:
    """Return reports of untrained networks by seed: a control that must raise no alarm."""
    found, batches = {}, evaluation_batches(task, BATCHES_READ)
    for seed in seeds:
        untrained = initial_net(net, task, seed)
        with with_threads(reading_threads(untrained)):
            report = diagnose(
                untrained,
                batches,
                method_name="untrained",
                notes="at initialisation",
                thresholds=thresholds,
            )
        source: dict[str, JsonValue] = {"net": net.model_dump(mode="json"), "seed": seed}
        found[str(seed)] = replace(report, source=source)
    return found
