"""Pitfalls of measuring: how readings of a network are taken."""

from __future__ import annotations

from collections.abc import Sequence

from depthgauge.diagnosis.report import Report
from depthgauge.diagnostics.reference import FLOOR, GRADIENT, LEAST_COSINE, REFERENCE
from depthgauge.number_format import exact, significant
from depthgauge.report.paper.section import APPLIES, AVOIDED, NOT_MEASURED, Item
from depthgauge.results.network import NetworkResult
from depthgauge.results.study import StudyResult

PUBLISHED_BATCH = 128


def pitfalls_of_measuring(study: StudyResult) -> list[Item]:
    """Return the checklist's items on measuring.

    Items are on norms, batch size, cosines, precision, feedback, layers and null calibration.
    """
    networks = [network for view in study.rules.values() for network in view.networks]
    audited = [network.report for network in networks if network.report is not None]
    return [
        _norms(networks, audited),
        _batch_size(study, networks),
        _cosines(audited),
        _precision(study, audited),
        _feedback(audited),
        _layers(audited),
        _null(audited),
    ]


def _norms(networks: Sequence[NetworkResult], audited: Sequence[Report]) -> Item:
    text = "Euclidean, over the features of each sample; medians over samples"
    on = sorted({report.scale.measured_on for report in audited})
    if on:
        text += f" ({' or '.join(on)})"
    return Item("Norms", text, _if_any(networks))


def _batch_size(study: StudyResult, networks: Sequence[NetworkResult]) -> Item:
    floor = study.thresholds[FLOOR.name]
    text = (
        "gradients are of each sample's own loss, so their norms do not depend on the batch size; "
        f"the floor of {REFERENCE.id} is {exact(floor)}, which is "
        f"{significant(floor / PUBLISHED_BATCH)} for the mean loss of a batch of {PUBLISHED_BATCH}"
    )
    return Item("Batch size", text, _if_any(networks))


def _if_any(networks: Sequence[NetworkResult]) -> str:
    """Return `AVOIDED` if the gradient of a network has been read, else `NOT_MEASURED`."""
    return (
        AVOIDED
        if any(n.readings.get(GRADIENT.name) is not None for n in networks)
        else NOT_MEASURED
    )


def _cosines(audited: Sequence[Report]) -> Item:
    if not audited:
        return Item("Cosines", "none was read: there is no audit", NOT_MEASURED)
    text = "norms are never clamped in a cosine; a vector of exactly zero has no cosine"
    aligned = [report.alignment for report in audited if report.alignment]
    if aligned:
        zero = sum(sum(reading.undefined) for reading in aligned)
        text += f"; {zero:,} such vectors are left out of Γ" if zero else "; Γ met no such vector"
    return Item("Cosines", text, AVOIDED)


def _precision(study: StudyResult, audited: Sequence[Report]) -> Item:
    trained = sorted({run.config.recipe.dtype for run in study.runs})
    text = f"trained in {' and '.join(trained)}; " if trained else ""
    read = [report.numerics for report in audited]
    cosines = [reading.value for reading in read if reading.value is not None]
    if not cosines:
        return Item("Precision", f"{text}the precision of gradients was not measured", NOT_MEASURED)
    asked, least = study.thresholds[LEAST_COSINE.name], min(cosines)
    text += (
        f"the least cosine of a measured gradient with the float64 one is "
        f"{significant(least)} over {_count(len(cosines), 'network')}; at least "
        f"{exact(asked)} is required"
    )
    half = {kind for reading in read for kind in reading.of_native}
    if half:
        text += f"; networks that use {' and '.join(sorted(half))} were measured in float32"
    return Item("Precision", text, AVOIDED if least >= asked else APPLIES)


def _feedback(audited: Sequence[Report]) -> Item:
    """Return the item on feedback: for how many networks the credit could be read."""
    if not audited:
        return Item("Feedback", "no credit was read: there is no audit", NOT_MEASURED)
    without = [report for report in audited if report.alignment is None]
    read = len(audited) - len(without)
    text = f"the credit of {read} of {_count(len(audited), 'audited network')} could be read"
    if without:
        methods = ", ".join(dict.fromkeys(report.method_name for report in without))
        return Item("Feedback", f"{text}; Γ and ρ are n/a for {methods}", APPLIES)
    return Item("Feedback", f"{text} from the saved feedback", AVOIDED)


def _layers(audited: Sequence[Report]) -> Item:
    if any(report.alignment for report in audited):
        return Item("Mean over layers", "Γ is given layer by layer, not as one mean", AVOIDED)
    return Item("Mean over layers", "Γ was not read", NOT_MEASURED)


def _null(audited: Sequence[Report]) -> Item:
    nulls = [report.null for report in audited if report.null]
    if not nulls:
        return Item("Null of Γ", "no alignment was compared with fresh feedback", NOT_MEASURED)
    draws = " or ".join(map(str, sorted({null.draws for null in nulls})))
    text = f"Γ of {_count(len(nulls), 'network')} is compared with {draws} fresh feedbacks each"
    return Item("Null of Γ", text, AVOIDED)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
