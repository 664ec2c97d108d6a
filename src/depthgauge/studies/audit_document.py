"""The audit as one document: `audit.json`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from depthgauge.config import SCHEMA_VERSION
from depthgauge.diagnosis.report import Report
from depthgauge.diagnostics.readings import diverged_readings
from depthgauge.store.files import finite
from depthgauge.studies.audit import Audited, depth_gain_of_bp
from depthgauge.studies.spread import mean_and_spread
from depthgauge.verdict.judge import judge
from depthgauge.verdict.sensitivity import sensitivity
from depthgauge.verdict.thresholds import Thresholds
from depthgauge.verdict.utility import Evidence, walked_back


def audit_document(
    audited: Sequence[Audited],
    config: dict[str, Any],
    thresholds: Thresholds,
    controls: dict[str, Report],
    provenance: dict[str, Any],
    *,
    shallow: dict[str, dict[str, Any]] | None = None,
    selection: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Everything that was read, and what it comes to.

    `reports[dfa_s42]` has every reading of one network, `summary` a row for each, `verdicts[dfa]`
    the verdict over seeds, `decision_utility[strategy][dfa]` how many of its runs that way of
    reporting walks back, `controls` the untrained networks, `shallow` the networks without blocks,
    `settings[dfa]` whether the verdict is the same at every setting of the rule, `selection` how
    those settings were chosen.
    """
    methods = list(dict.fromkeys(one.subject.method for one in audited))
    by_method = {m: [one for one in audited if one.subject.method == m] for m in methods}
    bp_gain = depth_gain_of_bp([one.subject for one in audited])
    document: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "config": config | {"bp_depth_gain": bp_gain},
        "thresholds": dict(thresholds),
        "provenance": provenance,
        "reports": {
            one.subject.key: one.report.to_dict() for one in audited if one.report is not None
        },
        "summary": [_row(one) for one in audited],
        "verdicts": {m: _verdict(runs, thresholds, bp_gain) for m, runs in by_method.items()},
        "decision_utility": _utility(by_method, config["chance"], thresholds, bp_gain),
        "controls": {name: report.to_dict() for name, report in controls.items()},
        "shallow": {method: _shallow(seeds) for method, seeds in (shallow or {}).items()},
        "selection": selection or {},
    }
    document["settings"] = settings_of_rules(document["verdicts"])
    plain: dict[str, Any] = finite(document)
    return plain


def _shallow(seeds: dict[str, Any]) -> dict[str, Any]:
    finished = [entry["acc"] for entry in seeds.values() if entry["acc"] is not None]
    return {"acc": mean_and_spread(finished), "seeds": seeds}


def settings_of_rules(verdicts: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """For each rule with several settings: the verdict of each, and whether they are one.

    `survives` is None where some setting is inconclusive and the others agree: it cannot be told.
    """
    rules: dict[str, dict[str, str]] = {}
    for method, entry in verdicts.items():
        if entry["rule"] is not None and entry["control"] is None:
            rules.setdefault(entry["rule"], {})[method] = entry["verdict"]
    return {
        rule: {"verdicts": words, "survives": _survives(set(words.values()))}
        for rule, words in rules.items()
        if len(words) > 1
    }


def _survives(words: set[str]) -> bool | None:
    decided = words - {"inconclusive"}
    if len(decided) > 1:
        return False
    return None if decided != words else True


def _row(one: Audited) -> dict[str, Any]:
    subject, report = one.subject, one.report
    row: dict[str, Any] = {
        "method": subject.method,
        "seed": subject.seed,
        "acc": subject.accuracy,
        "h_L": None,
        "g_L": None,
        "g_L_n128": None,
        "stability": None,
        "frozen_acc": subject.frozen,
        "verdict": "diverged",
        "fired": [],
        "single_seed": True,
        "first_fired": one.first_fired,
        "source": subject.source,
    }
    if report is not None:
        row |= {
            "h_L": report.residual_norms[-1],
            "g_L": report.bp_grad_norms[-1],
            "g_L_n128": report.bp_grad_norms_n128[-1],
            "stability": report.cross_batch_stability,
            "verdict": report.verdict,
            "fired": list(report.judgement.fired),
            "growth": report.scale.value,
            "gamma": list(report.alignment.per_layer) if report.alignment else None,
            "null": report.null.deep.word if report.null else None,
        }
    return row


def _verdict(
    runs: Sequence[Audited], thresholds: Thresholds, bp_gain: float | None
) -> dict[str, Any]:
    accuracies = [one.subject.accuracy for one in runs if one.subject.accuracy is not None]
    frozen = [one.subject.frozen for one in runs if one.subject.frozen is not None]
    seeds = [one.report.seed_readings if one.report else diverged_readings() for one in runs]
    verdict = judge(seeds, thresholds, bp_gain)
    return {
        "rule": runs[0].subject.rule,
        "control": runs[0].subject.control,
        "seeds": [one.subject.seed for one in runs],
        "diverged_seeds": [one.subject.seed for one in runs if one.report is None],
        "acc": mean_and_spread(accuracies),
        "frozen_acc": mean_and_spread(frozen),
        "verdict": verdict.word,
        "verdict_in_words": str(verdict),
        "fired": list(verdict.fired),
        "single_seed": verdict.single_seed,
        "diagnostics": [finding.to_dict() for finding in verdict.findings],
        "sensitivity": [asdict(r) for r in sensitivity(seeds, thresholds, bp_gain)],
    }


def _utility(
    by_method: dict[str, list[Audited]],
    chance: float,
    thresholds: Thresholds,
    bp_gain: float | None,
) -> dict[str, dict[str, list[int]]]:
    table: dict[str, dict[str, list[int]]] = {}
    for method, runs in by_method.items():
        evidence = [
            Evidence(None, chance, None, diverged_readings(), bp_gain)
            if one.report is None
            else Evidence(
                accuracy=one.subject.accuracy,
                chance=chance,
                alignment=one.report.alignment.over_all if one.report.alignment else None,
                readings=one.report.seed_readings,
                bp_gain=bp_gain,
            )
            for one in runs
        ]
        for strategy, counts in walked_back(evidence, thresholds).items():
            table.setdefault(strategy, {})[method] = list(counts)
    return table
