"""The conclusion of an audit: a verdict on each rule, and decision utility.

Decision utility counts the networks that each reporting strategy would walk back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from depthgauge.auditing.gauge_readings import NetworkReport
from depthgauge.auditing.networks import NetworkUnderAudit
from depthgauge.config import SharedConfig
from depthgauge.diagnosis.report import Report
from depthgauge.diagnostics.readings import diverged_readings
from depthgauge.diagnostics.used_depth import UsedDepth
from depthgauge.results.audit import Audit
from depthgauge.results.audit_parts import AuditedNetwork, RuleVerdict, Selection, ShallowRule
from depthgauge.results.network import gain_of_most_accurate
from depthgauge.results.spread import Spread
from depthgauge.store.provenance import Provenance
from depthgauge.verdict.decision_utility import RunEvidence, count_walk_backs
from depthgauge.verdict.judge import judge
from depthgauge.verdict.sensitivity import sensitivity
from depthgauge.verdict.thresholds import Thresholds


def conclude(
    reports: Sequence[NetworkReport],
    config: SharedConfig,
    thresholds: Thresholds,
    *,
    chance: float,
    bp_gain: float | None,
    untrained: Mapping[str, Report],
    provenance: Provenance,
    used_depths: Mapping[str, UsedDepth] | None = None,
    shallow: Mapping[str, ShallowRule] | None = None,
    selection: Mapping[str, Selection] | None = None,
    earlier: Mapping[str, RuleVerdict] | None = None,
) -> Audit:
    """Return the audit that follows from the reports on the networks.

    Each new verdict keeps the rule's verdict in `earlier` as its history.
    """
    by_label: dict[str, list[NetworkReport]] = {}
    for entry in reports:
        by_label.setdefault(entry.network.label, []).append(entry)
    return Audit(
        config=config,
        chance=chance,
        bp_gain=bp_gain,
        thresholds=thresholds,
        provenance=dict(provenance),
        verdicts={
            label: _verdict(own, thresholds, bp_gain, (used_depths or {}).get(label)).with_history(
                (earlier or {}).get(label)
            )
            for label, own in by_label.items()
        },
        networks=tuple(map(_audited, reports)),
        decision_utility=_utility(by_label, chance, thresholds, bp_gain),
        untrained=dict(untrained),
        shallow=dict(shallow or {}),
        selection=dict(selection or {}),
    )


def depth_gain_of_bp(networks: Sequence[NetworkUnderAudit]) -> float | None:
    """Return backpropagation's mean gain from depth; None if backpropagation was not audited.

    If backpropagation was audited at several settings, the most accurate setting counts.
    """
    return gain_of_most_accurate(
        (network.label, network.accuracy, network.frozen)
        for network in networks
        if network.control is None and "bp" in (network.rule, network.label)
    )


def _audited(entry: NetworkReport) -> AuditedNetwork:
    network = entry.network
    return AuditedNetwork(
        label=network.label,
        seed=network.seed,
        accuracy=network.accuracy,
        frozen=network.frozen,
        first_fired=dict(entry.first_fired),
        source=network.source,
        report=entry.report,
    )


def _verdict(
    reports: Sequence[NetworkReport],
    thresholds: Thresholds,
    bp_gain: float | None,
    used_depth: UsedDepth | None,
) -> RuleVerdict:
    """Return the verdict on a rule, from the reports of its seeds.

    A diverged seed has no report; it gets the readings that stand for divergence.
    """
    networks = [entry.network for entry in reports]
    seeds = [
        diverged_readings() if entry.report is None else entry.report.seed_readings
        for entry in reports
    ]
    verdict = judge(seeds, thresholds, bp_gain, used_depth=used_depth)
    return RuleVerdict(
        rule=networks[0].rule,
        control=networks[0].control,
        seeds=tuple(network.seed for network in networks),
        diverged_seeds=tuple(entry.network.seed for entry in reports if entry.report is None),
        accuracy=Spread.of(network.accuracy for network in networks),
        frozen=Spread.of(network.frozen for network in networks),
        word=verdict.word,
        findings=verdict.findings,
        besides=verdict.besides,
        sensitivity=tuple(sensitivity(seeds, thresholds, bp_gain, used_depth=used_depth)),
        used_depth=used_depth,
        access=networks[0].access,
    )


def _utility(
    by_label: Mapping[str, Sequence[NetworkReport]],
    chance: float,
    thresholds: Thresholds,
    bp_gain: float | None,
) -> dict[str, dict[str, tuple[int, int]]]:
    """Return two counts of networks for each reporting strategy and label.

    The first number counts the networks that the strategy would walk back. The second number
    counts the networks on which the strategy can decide.
    """
    utility: dict[str, dict[str, tuple[int, int]]] = {}
    for label, reports in by_label.items():
        evidence = [_evidence(entry, chance, bp_gain) for entry in reports]
        for strategy, counts in count_walk_backs(evidence, thresholds).items():
            utility.setdefault(strategy, {})[label] = counts
    return utility


def _evidence(entry: NetworkReport, chance: float, bp_gain: float | None) -> RunEvidence:
    report = entry.report
    if report is None:
        return RunEvidence(None, chance, None, diverged_readings(), bp_gain)
    return RunEvidence(
        accuracy=entry.network.accuracy,
        chance=chance,
        alignment=report.alignment.over_all if report.alignment else None,
        readings=report.seed_readings,
        bp_gain=bp_gain,
    )
