"""The section on verdicts and diagnostics in the reporting template."""

from __future__ import annotations

from depthgauge.diagnostics.registry import verdict_diagnostics
from depthgauge.number_format import with_powers
from depthgauge.report.paper.section import Item, Section
from depthgauge.report.tables.findings import finding_table
from depthgauge.report.tables.layers import alignment_table, in_parts, perturbation_table
from depthgauge.report.texts.captions import level, pairing_words
from depthgauge.results.rule import RuleResult
from depthgauge.results.study import StudyResult

BASES = {"audit": ", by the audit", "training": ", by the metrics of training"}


def diagnostics_section(study: StudyResult) -> Section:
    """Return the section: verdicts with their basis, then tables of all readings."""
    judged = [rule for rule in study.rules.values() if rule.control != "shallow"]
    items = [Item(f"Verdict, {rule.label}", _verdict(rule)) for rule in judged]
    credit = [*in_parts(alignment_table(study)), *in_parts(perturbation_table(study))]
    named = [table.called(f"template-{table.name}") for table in credit]
    items += _confidence(study)
    return Section("Diagnostics", tuple(items), (finding_table(study), *named))


def _verdict(rule: RuleResult) -> str:
    """Return the verdict with its basis, and the reason for each untested diagnostic."""
    reasons = [
        f"{finding.id} untested, {with_powers(finding.sentence)}"
        for finding in rule.findings
        if finding.untested
    ]
    return "; ".join([str(rule.verdict) + BASES.get(rule.basis, ""), *reasons])


def _confidence(study: StudyResult) -> list[Item]:
    judged = [rule for rule in study.rules.values() if rule.findings]
    single = [rule.label for rule in judged if rule.verdict.single_seed]
    items = []
    if len(single) < len(judged):
        rate, one = study.thresholds.error_rate, level(study.thresholds)
        text = (
            f"Student's t intervals over seeds at {one} each{_logarithms()}; the gain is "
            f"{pairing_words(study)}. The intervals of all {len(verdict_diagnostics())} "
            f"diagnostics together hold at least {100 * (1 - rate):.3g} % of the time if readings "
            "are about symmetric"
        )
        items.append(Item("Confidence", text))
    if single:
        text = f"point values without an error rate: {', '.join(single)}"
        items.append(Item("Single seed", text))
    return items


def _logarithms() -> str:
    logs = [one.id for one in verdict_diagnostics() if any(q.log for q in one.quantities)]
    return f", of the logarithm for {', '.join(logs)}" if logs else ""
