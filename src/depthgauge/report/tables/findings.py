"""The table of findings: for each rule, one row for each quantity with a threshold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from depthgauge.diagnostics.contract import Threshold
from depthgauge.diagnostics.registry import diagnostics
from depthgauge.number_format import MISSING, bounds, center, with_powers
from depthgauge.report.tables.diagnostic_columns import measured
from depthgauge.report.tables.table import Table, make_table, numbers, words
from depthgauge.report.texts.diagnostics import when_they_fire
from depthgauge.results.rule import RuleResult
from depthgauge.results.study import StudyResult
from depthgauge.verdict.thresholds import Thresholds


def finding_table(study: StudyResult) -> Table:
    """Return each reading over seeds with its interval, its threshold and the finding."""
    caption = (
        "Diagnostics over seeds: value, interval, where the diagnostic fires, finding; without an "
        "interval, the worst value of the networks and how many networks are on the bad side. "
        + " ".join(when_they_fire())
    )
    columns = [
        *words("rule", "reading"),
        *numbers("value", "interval", "fires if"),
        *words("finding"),
    ]
    judged = [rule for rule in study.rules.values() if rule.control != "shallow"]
    rows = [row for rule in judged for row in _rows(rule, study.thresholds)]
    return make_table("findings", caption, columns, rows)


def _rows(rule: RuleResult, used: Thresholds) -> Iterator[list[str]]:
    """Yield a row for each quantity of a rule that was measured or judged."""
    for diagnostic in diagnostics():
        finding = rule.finding(diagnostic.id)
        for threshold in diagnostic.thresholds:
            quantity, limit = threshold.quantity, used[threshold.name]
            start = [rule.label, f"{diagnostic.id} {quantity.label}"]
            fires_if = with_powers(threshold.fires_if(limit))
            interval = finding.intervals.get(quantity.name) if finding else None
            values = [measured(network, quantity) for network in rule.networks]
            known = [value for value in values if value is not None]
            if finding is not None and interval is not None:
                ends = (
                    center(interval, quantity.show),
                    bounds(quantity, interval, quantity.show, limit),
                )
                yield [*start, *ends, fires_if, finding.outcome]
            elif known:
                worst = max(known) if threshold.fires == "above" else min(known)
                count = f"{threshold.fires} in {_beyond(known, threshold, limit)} of {len(known)}"
                yield [*start, quantity.show(worst), MISSING, fires_if, count]
            elif finding is not None and threshold is diagnostic.thresholds[0]:
                yield [*start, MISSING, MISSING, fires_if, finding.outcome]


def _beyond(values: Sequence[float], threshold: Threshold, limit: float) -> int:
    """Return how many values are on the bad side of a threshold."""
    is_bad_above = threshold.fires == "above"
    return sum(value > limit if is_bad_above else value < limit for value in values)
