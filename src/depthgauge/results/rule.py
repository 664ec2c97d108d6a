"""The result of one rule of a study: verdict, evidence, networks and ladder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from depthgauge.controls import control_in
from depthgauge.diagnostics.finding import Finding
from depthgauge.diagnostics.registry import verdict_diagnostics
from depthgauge.diagnostics.used_depth import UsedDepth
from depthgauge.results.audit import Audit
from depthgauge.results.ladder import Rung, rungs_of, swap_twins_of
from depthgauge.results.network import (
    NetworkResult,
    audited_network,
    gain_of_most_accurate,
    trained_network,
)
from depthgauge.results.run import RunResult
from depthgauge.results.spread import Spread
from depthgauge.results.used_depth_of_runs import used_depths
from depthgauge.rules.access import Access
from depthgauge.verdict.judge import Verdict, judge
from depthgauge.verdict.sensitivity import StableRange
from depthgauge.verdict.thresholds import Thresholds

Basis = Literal["audit", "training", "nothing"]
"""The basis of a verdict: the readings of an audit, the metrics of training, or nothing yet."""
AUDIT: Basis = "audit"
TRAINING: Basis = "training"


@dataclass(frozen=True)
class RuleResult:
    """The result of one rule of a study.

    Attributes:
        label: the label of the rule in tables.
        control: the control, a changed network or recipe with which the rule was trained; None
            without one.
        verdict: a word with its reasons; "not judged" or "no blocks" if there is nothing to judge.
        basis: what the verdict rests on: an audit, the metrics of training, or nothing yet.
        accuracy: mean and spread over seeds of the accuracy with all blocks trained.
        frozen: mean and spread over seeds of the accuracy with frozen blocks.
        networks: the networks with all blocks trained, one for each seed.
        ladder: the rungs of its ladder, in the order of k, the number of trained blocks.
        twins: the swap twins of its rungs, in the same order. In a swap twin, the blocks that the
            rung adds are trained on noise.
        used_depth: how many blocks earn accuracy; None without a ladder.
        sensitivity: for each threshold, the range in which the word of the audit's verdict stays
            the same.
        access: what the rule sees, and whether it transports weights; None without an audit.
        unread: the number of networks trained after the audit, which the audit has not read.
    """

    label: str
    control: str | None
    verdict: Verdict
    basis: Basis
    accuracy: Spread
    frozen: Spread
    networks: tuple[NetworkResult, ...]
    ladder: tuple[Rung, ...]
    twins: tuple[Rung, ...] = ()
    used_depth: UsedDepth | None = None
    sensitivity: tuple[StableRange, ...] = ()
    unread: int = 0
    access: Access | None = None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Return the finding of each diagnostic on which the verdict rests."""
        return self.verdict.findings

    def finding(self, name: str) -> Finding | None:
        """Return the finding of one diagnostic; None if the verdict does not contain it."""
        return self.verdict.finding(name)

    @property
    def blocks(self) -> int | None:
        """Return the number of blocks of the rule's network; None if no rung has an accuracy."""
        return next((rung.blocks for rung in self.ladder if rung.accuracies), None)

    @property
    def diverged_seeds(self) -> list[int]:
        """Return the seeds at which training diverged when all blocks were trained."""
        return [network.seed for network in self.networks if network.diverged]

    @cached_property
    def values(self) -> Mapping[str, Mapping[int, float]]:
        """Return the values of each quantity by seed.

        The quantities are accuracy, frozen, gain, and the accuracy of each rung, such as `k = 0`.
        """
        values: dict[str, dict[int, float]] = {
            name: {
                network.seed: value
                for network in self.networks
                if (value := getattr(network, name)) is not None
            }
            for name in QUANTITIES
        }
        for rung in self.ladder:
            values[f"k = {rung.k}"] = rung.accuracies
            if not self.networks and rung.blocks == rung.k:
                values["accuracy"] = rung.accuracies
        return values


QUANTITIES = ("accuracy", "frozen", "gain")
"""Accuracy with all blocks trained, with frozen blocks, and the difference."""


def rule_results(
    runs: Sequence[RunResult],
    audit: Audit | None,
    thresholds: Thresholds,
    bp_gain: float | None,
    chance: float | None,
) -> dict[str, RuleResult]:
    """Return the result of every rule, by label.

    A rule that was audited is judged by the audit. Any other rule is judged by the metrics of its
    training. Audited rules come first, and rules under a control come last.
    """
    audited = audit.verdicts if audit else {}
    by_label: dict[str, list[RunResult]] = {label: [] for label in audited}
    for run in runs:
        by_label.setdefault(run.label, []).append(run)
    ordered = sorted(by_label, key=lambda label: control_in(label) is not None)
    depths = used_depths(by_label, chance)
    return {
        label: _rule(label, by_label[label], audit, thresholds, bp_gain, depth=depths.get(label))
        for label in ordered
    }


def _rule(
    label: str,
    runs: Sequence[RunResult],
    audit: Audit | None,
    thresholds: Thresholds,
    bp_gain: float | None,
    *,
    depth: UsedDepth | None,
) -> RuleResult:
    networks: tuple[NetworkResult, ...] = ()
    sensitivity: tuple[StableRange, ...] = ()
    access: Access | None = None
    basis, unread = TRAINING, 0
    if audit is not None and label in audit.verdicts:
        known = {run.identity for run in runs}
        networks = tuple(audited_network(network, known) for network in audit.of_label(label))
        entry = audit.verdicts[label]
        verdict, basis, sensitivity = entry.verdict, AUDIT, entry.sensitivity
        depth = entry.used_depth or depth
        access = entry.access
        unread = max(0, sum(run.is_full and run.is_done for run in runs) - len(networks))
    elif not runs[0].config.net.blocks:
        verdict = Verdict("no blocks", (), 0, reason="nothing to judge")
    else:
        networks = networks_of(runs, thresholds)
        verdict = judge_by_training(networks, thresholds, bp_gain, depth)
    accuracies = [trained.accuracy for trained in networks or runs]
    return RuleResult(
        label=label,
        control=runs[0].control if runs else control_in(label),
        verdict=verdict,
        basis=basis if verdict.findings else "nothing",
        accuracy=Spread.of(accuracies if networks or verdict.word == "no blocks" else []),
        frozen=Spread.of(network.frozen for network in networks),
        networks=networks,
        ladder=rungs_of(runs),
        twins=swap_twins_of(runs),
        used_depth=depth,
        sensitivity=sensitivity,
        unread=unread,
        access=access,
    )


def networks_of(runs: Sequence[RunResult], thresholds: Thresholds) -> tuple[NetworkResult, ...]:
    """Return each network with all blocks trained; its readings are from the last epoch."""
    frozen = {(run.label, run.config.seed): run for run in runs if run.config.k == 0}
    return tuple(
        trained_network(run, frozen.get((run.label, run.config.seed)), thresholds)
        for run in runs
        if run.is_full and run.is_done
    )


def judge_by_training(
    networks: Sequence[NetworkResult],
    thresholds: Thresholds,
    bp_gain: float | None,
    depth: UsedDepth | None = None,
) -> Verdict:
    """Return the verdict by the metrics that training recorded.

    Training may have recorded too little for a diagnostic. Then only the verdict "walk back"
    stands, and any other verdict becomes "not judged".
    """
    if not networks:
        return Verdict("not judged", (), 0, reason="no run with all blocks trained is done")
    readings = [network.readings for network in networks]
    verdict = judge(readings, thresholds, bp_gain, used_depth=depth)
    unread = [
        finding.id
        for finding, diagnostic in zip(verdict.findings, verdict_diagnostics(), strict=True)
        if finding.untested and diagnostic.recorded
    ]
    if unread and verdict.word != "walk back":
        reason = f"too little was recorded for {', '.join(unread)}"
        return replace(verdict, word="not judged", reason=reason)
    return verdict


def gain_of_bp(runs: Sequence[RunResult], thresholds: Thresholds) -> float | None:
    """Return the mean gain of backpropagation from depth, at its most accurate setting."""
    bp = [run for run in runs if run.config.rule.name == "bp" and run.control is None]
    networks = networks_of(bp, thresholds)
    return gain_of_most_accurate((n.label, n.accuracy, n.frozen) for n in networks)
