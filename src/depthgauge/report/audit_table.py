"""The audit as tables: one row for each network, for each rule, for each way of reporting."""

from __future__ import annotations

from typing import TypeAlias

from depthgauge.diagnostics.used_depth import UsedDepth
from depthgauge.number_format import count_of, percent, percent_spread, signed, significant
from depthgauge.report.diagnostic_columns import columns, epoch_words, shown_readings, watched
from depthgauge.results.floors import LINEAR
from depthgauge.results.network import NetworkResult
from depthgauge.results.study import StudyResult
from depthgauge.scheduling.variations import SHALLOW

Table: TypeAlias = tuple[list[str], list[list[str]]]


def run_table(study: StudyResult) -> Table:
    """Rule, seed, accuracies, ‖h_L‖, what each diagnostic read, verdict."""
    read = [column.quantity.label for column in columns()]
    header = ["rule", "seed", "acc", "frozen", "‖h_L‖", *read, "fires"]
    return header, [_run_row(network) for network in _audited(study)]


def _audited(study: StudyResult) -> list[NetworkResult]:
    """The networks that the audit read, or found diverged."""
    audited = [rule for rule in study.rules.values() if rule.basis == "audit"]
    return [network for rule in audited for network in rule.networks]


def _run_row(network: NetworkResult) -> list[str]:
    report = network.report
    return [
        network.label,
        str(network.seed),
        percent(network.accuracy),
        percent(network.frozen),
        significant(report.residual_norms[-1] if report else None),
        *shown_readings(network),
        "diverged" if report is None else ", ".join(report.judgement.fired) or "none",
    ]


def training_table(study: StudyResult) -> Table:
    """The epoch at which each diagnostic first fired, where the training was watched."""
    looked_at = watched()
    header = ["over training", "seed", *(f"{one.id} first fires" for one in looked_at)]
    rows = [
        [
            network.label,
            str(network.seed),
            *(epoch_words(network.first_fired, one) for one in looked_at),
        ]
        for network in _audited(study)
        if network.first_fired
    ]
    return header, rows


def rule_table(study: StudyResult) -> Table:
    """Return each rule with its used depth, verdict and accuracies; the floors come last."""
    header = ["rule", "used depth", "verdict", "accuracy", "frozen"]
    rows = [
        [
            rule.label,
            depth_cell(rule.used_depth),
            str(rule.verdict) + _diverged(rule.diverged_seeds),
            percent_spread(rule.accuracy),
            percent_spread(rule.frozen),
        ]
        for rule in study.rules.values()
        if rule.basis == "audit"
    ]
    shallow = study.audit.shallow if study.audit else {}
    rows += [
        [label, "–", _without_blocks(label), percent_spread(entry.accuracy), "–"]
        for label, entry in shallow.items()
    ]
    linear = study.floors.linear if study.floors else None
    if linear is not None and rows:
        why = linear.reason or "floor: no network"
        rows.append([LINEAR, "–", why, percent(linear.accuracy), "–"])
    return header, rows


def selection_table(study: StudyResult) -> Table:
    """Every setting that was tried, with its accuracy on held-out samples; the best is marked."""
    selections = study.audit.selection.values() if study.audit else ()
    rows = [
        [label, percent_spread(found.accuracy), "yes" if label == entry.chosen else ""]
        for entry in selections
        for label, found in entry.candidates.items()
    ]
    return ["setting", "held-out acc", "chosen"], rows


def utility_table(study: StudyResult) -> Table:
    """For each way of reporting, how many of each rule's runs it walks back."""
    labels = list(study.audit.verdicts) if study.audit else []
    header = ["what is reported", *(f"{label} walked back" for label in labels)]
    rows = [
        [strategy, *(count_of(counts.get(label)) for label in labels)]
        for strategy, counts in (study.audit.decision_utility if study.audit else {}).items()
    ]
    return header, rows


def layer_table(study: StudyResult) -> Table:
    """Γ of each network layer by layer: one mean would hide where it is."""
    read = [
        (network, network.report, network.report.alignment.per_layer)
        for network in _audited(study)
        if network.report is not None and network.report.alignment is not None
    ]
    depth = max((len(values) for _, _, values in read), default=0)
    header = ["Γ", "seed", "embed", *(f"block {index}" for index in range(depth - 1)), "null, deep"]
    rows = [
        [
            network.label,
            str(network.seed),
            *map(signed, values),
            *["–"] * (depth - len(values)),
            report.null.deep.word if report.null else "n/a",
        ]
        for network, report, values in read
    ]
    return header, rows


def depth_cell(depth: UsedDepth | None) -> str:
    """How many blocks are in use, of how many."""
    return "–" if depth is None else str(depth)


def _diverged(lost: list[int]) -> str:
    return f"; diverged: seed {', '.join(map(str, lost))}" if lost else ""


def _without_blocks(label: str) -> str:
    return "floor: no blocks" if label == SHALLOW else "no blocks: nothing to judge"


TABLES = (rule_table, run_table, training_table, layer_table, utility_table, selection_table)
"""The verdicts first."""
