"""The audit: every diagnostic on every network, the verdict over seeds, and what each costs."""

from __future__ import annotations

import logging
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor, nn

from depthgauge.config import NetConfig
from depthgauge.diagnosis.credit_quality import credit_gauges, readings_of
from depthgauge.diagnosis.diagnose import diagnose
from depthgauge.diagnosis.precision import in_float32
from depthgauge.diagnosis.report import Report
from depthgauge.errors import UserError, one_line
from depthgauge.gauges.alignment import AlignmentGauge
from depthgauge.gauges.measure import measure
from depthgauge.gauges.norms import BATCH_READ, BATCHES_READ
from depthgauge.gauges.numerics import NumericsGauge, NumericsReading
from depthgauge.gauges.perturbation_published import PublishedPerturbation
from depthgauge.nets.opened import OpenedNet
from depthgauge.nets.registry import initial_net
from depthgauge.rules.on_network import formed_credit, rule_credit
from depthgauge.studies.audit_subjects import Subject
from depthgauge.studies.null import SAMPLES, calibrate_null, why_not
from depthgauge.studies.trained import Trained, evaluation_batches, first_samples
from depthgauge.tasks.base import Task
from depthgauge.training.threads import with_threads
from depthgauge.verdict.over_training import first_fired, from_metrics
from depthgauge.verdict.thresholds import Thresholds

log = logging.getLogger("depthgauge")

NULL_DRAWS = 200

SMALL = 200_000
"""Parameters of a network below which threads that share its products only wait for each other."""


@dataclass(frozen=True)
class Audited:
    """A network and its report; no report where the run diverged."""

    subject: Subject
    report: Report | None
    first_fired: dict[str, int | None] | None


def audit(
    subjects: Sequence[Subject],
    task: Task,
    thresholds: Thresholds,
    on_read: Callable[[str], None] = lambda key: None,
    *,
    as_in_the_record: bool = False,
) -> list[Audited]:
    """Read every subject; `on_read` hears which one is done.

    With `as_in_the_record`, ρ is read as it was published too, for published figures.
    """
    bp_gain, audited = depth_gain_of_bp(subjects), []
    for subject in subjects:
        report = None
        if subject.trained is not None:
            with with_threads(reading_threads(subject.trained.net)):
                report = _report(subject, subject.trained, task, bp_gain, thresholds)
                for more in (partial(_with_credit, as_in_the_record=as_in_the_record), _with_null):
                    report = _if_the_rule_can(more, report, subject.trained, task)
        fired = first_fired(from_metrics(subject.metrics), thresholds) if subject.metrics else None
        audited.append(Audited(subject, report, fired))
        on_read(subject.key)
    return audited


def reading_threads(net: nn.Module) -> int:
    """All for a large network, one for a small one."""
    small = sum(parameter.numel() for parameter in net.parameters()) < SMALL
    return 1 if small else torch.get_num_threads()


def depth_gain_of_bp(subjects: Sequence[Subject]) -> float | None:
    """What backpropagation gains from depth, mean over seeds; None if it was not audited.

    With several settings of backpropagation, that of the most accurate one.
    """
    settings: dict[str, list[tuple[float, float]]] = {}
    for one in subjects:
        is_bp = one.control is None and "bp" in (one.rule, one.method)
        if is_bp and one.accuracy is not None and one.frozen is not None:
            settings.setdefault(one.method, []).append((one.accuracy, one.frozen))
    means = [
        (statistics.fmean(a for a, _ in runs), statistics.fmean(a - f for a, f in runs))
        for runs in settings.values()
    ]
    return max(means)[1] if means else None


def _report(
    subject: Subject, trained: Trained, task: Task, bp_gain: float | None, thresholds: Thresholds
) -> Report:
    batches = evaluation_batches(task, BATCHES_READ)
    report = diagnose(
        trained.net,
        batches,
        headline_acc=subject.accuracy,
        frozen_baseline_acc=subject.frozen,
        bp_depth_gain=bp_gain,
        method_name=subject.method,
        thresholds=thresholds,
    )
    if trained.in_bf16:
        report = replace(report, numerics=_numerics_with_bf16(trained, batches))
    return replace(report, source=subject.source)


def _numerics_with_bf16(
    trained: Trained, batches: Sequence[tuple[Tensor, Tensor]]
) -> NumericsReading:
    """D2n, also of the gradient in the precision of training."""
    net = OpenedNet(trained.net)
    gauge = NumericsGauge(net.in_precision(torch.bfloat16))
    measure(net, batches[:1], [gauge])
    return gauge.reading()


def _if_the_rule_can(
    more: Callable[[Report, Trained, Task], Report], report: Report, trained: Trained, task: Task
) -> Report:
    """The report with more readings, or as it is where the rule's own code raises an error."""
    try:
        return more(report, trained, task)
    except UserError:
        raise
    except Exception as error:
        log.warning("the credit of %s cannot be read: %s", trained.name, one_line(error))
        return report


def _with_credit(report: Report, trained: Trained, task: Task, *, as_in_the_record: bool) -> Report:
    """The report with the readings of the credit, where the rule and its feedback are known."""
    if trained.rule is None or trained.feedback is None:
        return report
    credit = rule_credit(trained.rule, trained.feedback)
    gauges = credit_gauges(credit, "depthgauge")
    gauges["alignment_record"] = AlignmentGauge(credit, "record")
    if as_in_the_record:
        formed = formed_credit(trained.rule, trained.feedback)
        gauges["perturbation_record"] = PublishedPerturbation(formed)
    x, y = first_samples(task, SAMPLES)
    batches = zip(torch.split(x, BATCH_READ), torch.split(y, BATCH_READ), strict=True)
    measure(in_float32(OpenedNet(trained.net))[0], batches, list(gauges.values()))
    return replace(report, **readings_of(gauges))


def _with_null(report: Report, trained: Trained, task: Task) -> Report:
    """The report with the null of the credit's alignment, where there is one."""
    if trained.rule is None or trained.feedback is None or why_not(trained) is not None:
        return report
    drawn = calibrate_null(trained, first_samples(task, SAMPLES), NULL_DRAWS)
    return replace(report, null=drawn)


def untrained_reports(
    net: NetConfig, task: Task, seeds: Sequence[int], thresholds: Thresholds
) -> dict[str, Report]:
    """The control: networks that have not been trained must raise no alarm."""
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
        source = {"net": net.model_dump(mode="json"), "seed": seed}
        found[f"untrained_s{seed}"] = replace(report, source=source)
    return found
