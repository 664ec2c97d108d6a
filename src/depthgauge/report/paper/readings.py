"""The diagnostics of each rule, with thresholds and findings, and the verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from depthgauge.diagnostics.contract import Quantity, Threshold
from depthgauge.diagnostics.registry import diagnostics, verdict_diagnostics
from depthgauge.number_format import MISSING, bounds, center, with_powers
from depthgauge.report.diagnostic_columns import measured
from depthgauge.report.diagnostic_words import when_they_fire
from depthgauge.report.paper.layer_tables import alignment_tables, perturbation_tables
from depthgauge.report.paper.paper_table import PaperTable
from depthgauge.report.paper.rule_words import level, pairing_words
from depthgauge.report.paper.section import Item, Section
from depthgauge.results.rule import RuleResult
from depthgauge.results.study import StudyResult
from depthgauge.verdict.thresholds import Thresholds


def diagnostics_section(study: StudyResult) -> Section:
    """Verdicts with what they rest on; then every reading."""
    judged = [view for view in study.rules.values() if view.control != "shallow"]
    items = [Item(f"Verdict, {view.label}", _verdict(view)) for view in judged]
    items += _confidence(study)
    rows = [row for view in judged for row in _rows(view, study.thresholds)]
    caption = (
        "Diagnostics over seeds: value, interval, where it fires, what was found; where there is "
        "no interval, the worst of the networks and how many are on the bad side. "
        + " ".join(when_they_fire())
    )
    header = ["rule", "reading", "value", "interval", "fires if", "finding"]
    table = PaperTable("readings", study.name, caption, header, rows)
    credit = [*alignment_tables(study), *perturbation_tables(study)]
    own = [replace(table, name=f"template-{table.name}") for table in credit]
    return Section("Diagnostics", tuple(items), (table, *own))


def _verdict(view: RuleResult) -> str:
    """In words, with its basis and why something is untested."""
    basis = {"audit": ", by the audit", "training": ", by the metrics of training"}
    reasons = [
        f"{d.id} untested, {with_powers(d.sentence)}"
        for d in view.findings
        if d.outcome == "untested"
    ]
    return "; ".join([str(view.verdict) + basis.get(view.basis, ""), *reasons])


def _confidence(study: StudyResult) -> list[Item]:
    judged = [view for view in study.rules.values() if view.findings]
    single = [view.label for view in judged if view.verdict.single_seed]
    items = []
    if len(single) < len(judged):
        rate, one = study.thresholds.error_rate, level(study.thresholds)
        text = (
            f"Student's t intervals over seeds at {one} each{_logarithms()}; the gain is "
            f"{pairing_words(study)}. All {len(verdict_diagnostics())} diagnostics together hold "
            f"at least {100 * (1 - rate):.3g} % of the time where readings are about symmetric"
        )
        items.append(Item("Confidence", text))
    if single:
        text = f"point values without an error rate: {', '.join(single)}"
        items.append(Item("Single seed", text))
    return items


def _logarithms() -> str:
    logs = [one.id for one in verdict_diagnostics() if any(q.log for q in one.quantities)]
    return f", of the logarithm for {', '.join(logs)}" if logs else ""


def _rows(view: RuleResult, used: Thresholds) -> Iterator[list[str]]:
    """One for each quantity that a diagnostic holds to a threshold, as far as it was measured."""
    for diagnostic in diagnostics():
        finding = view.finding(diagnostic.id)
        for threshold in diagnostic.thresholds:
            quantity, limit = threshold.quantity, used[threshold.name]
            start = [view.label, f"{diagnostic.id} {quantity.label}"]
            fires_if = with_powers(threshold.fires_if(limit))
            interval = finding.intervals.get(quantity.name) if finding else None
            values = [measured(network, quantity) for network in view.networks]
            known = [value for value in values if value is not None]
            if finding is not None and interval is not None:
                shown = partial(_shown, quantity)
                ends = center(interval, shown), bounds(quantity, interval, shown, limit)
                yield [*start, *ends, fires_if, finding.outcome]
            elif known:
                worst = max(known) if threshold.fires == "above" else min(known)
                count = f"{threshold.fires} in {_beyond(known, threshold, limit)} of {len(known)}"
                yield [*start, _shown(quantity, worst), MISSING, fires_if, count]
            elif finding is not None and threshold is diagnostic.thresholds[0]:
                yield [*start, MISSING, MISSING, fires_if, finding.outcome]


def _shown(quantity: Quantity, value: float | None) -> str:
    return with_powers(quantity.show(value))


def _beyond(values: Sequence[float], threshold: Threshold, limit: float) -> int:
    """How many networks are on the bad side, by themselves."""
    above = threshold.fires == "above"
    return sum(value > limit if above else value < limit for value in values)
