"""The axis of a diagnostic's panel: its values, threshold, bad side and limits."""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection
from dataclasses import dataclass

from depthgauge.diagnostics.contract import Chart, Diagnostic, Quantity, Side
from depthgauge.diagnostics.registry import diagnostics
from depthgauge.number_format import in_form
from depthgauge.report.charts.axes import Span, has_place, span_of
from depthgauge.report.charts.labels import FORM
from depthgauge.report.tables.diagnostic_columns import measured
from depthgauge.results.network import NetworkResult
from depthgauge.results.rule import RuleResult
from depthgauge.verdict.thresholds import Thresholds

REACH = 0.5
"""Most that intervals may widen the axis at each end, as a share of the width for the seeds."""

LEAST_LINEAR = 0.1
"""The smallest width of an axis that is not logarithmic, in the unit of its quantity."""

EDGE = 0.36 / 0.64
"""Room for words about networks that the axis cannot show, as a share of its width."""


@dataclass(frozen=True)
class DiagnosticAxis:
    """The axis for the quantity that a diagnostic decides by, in the unit of the panel.

    Attributes:
        diagnostic: the diagnostic.
        chart: what the diagnostic declares about its chart.
        threshold: the value beyond which the diagnostic fires; None if the diagnostic could judge
            no rule.
    """

    diagnostic: Diagnostic
    chart: Chart
    threshold: float | None

    @property
    def title(self) -> list[str]:
        """The title below the axis, line by line."""
        if self.threshold is None:
            return [self.chart.axis, "no rule is judged by it here"]
        return [self.chart.axis, f"{self.chart.word} {self.bad} {in_form(self.threshold, FORM)}"]

    @property
    def quantity(self) -> Quantity:
        """The quantity that the panel shows."""
        return self.chart.quantity

    @property
    def bad(self) -> Side:
        """The side of the threshold on which the diagnostic fires."""
        return self.chart.threshold.fires

    @property
    def log(self) -> bool:
        """Whether the axis is logarithmic."""
        return self.quantity.log

    def value(self, network: NetworkResult) -> float | None:
        """Return the value of a network in the unit of the chart; None if nothing was read."""
        value = measured(network, self.quantity)
        return None if value is None else self.quantity.factor * value

    def values(self, rule: RuleResult) -> list[float]:
        """Return the values of a rule's networks that the axis can show."""
        read = [self.value(network) for network in rule.networks]
        return [value for value in read if value is not None and has_place(value, self.log)]

    def interval(self, rule: RuleResult) -> tuple[float, float] | None:
        """Return the rule's interval over seeds; None if the interval is missing or too wide."""
        finding = rule.finding(self.diagnostic.id)
        found = finding.intervals.get(self.quantity.name) if finding else None
        if finding is None or found is None or found.is_point or math.isinf(found.center):
            return None
        if finding.straddles and self.quantity.is_too_wide(found):
            return None
        return self.quantity.factor * found.low, self.quantity.factor * found.high

    def fate(self, rule: RuleResult) -> str:
        """Return words for the networks that the axis cannot show; empty if it can show all."""
        lost = sum(network.diverged for network in rule.networks)
        values = [self.value(network) for network in rule.networks]
        is_single = len(values) == 1
        words = [f"{'' if is_single else f'{lost} '}diverged"] if lost else []
        for place, count in (("∞", values.count(math.inf)), ("0", values.count(0.0))):
            if count and self.log:
                words.append(f"{'' if is_single else f'{count} '}at {place}")
        if not words and not self.values(rule):
            words = ["not read"]
        return ", ".join(words)

    def badness(self, rule: RuleResult) -> tuple[bool, float]:
        """Return a key that sorts rules from good to bad; rules without a reading come last."""
        values = self.values(rule)
        if not values:
            return True, 0.0
        mean = statistics.geometric_mean(values) if self.log else statistics.fmean(values)
        return False, mean if self.bad == "above" else -mean

    def span(self, rules: Collection[RuleResult]) -> Span:
        """Return limits with room for seeds, threshold and words; long intervals are cut."""
        points = [value for rule in rules for value in self.values(rule)]
        points += [self.threshold] if self.threshold is not None else []
        least = LEAST_LINEAR * self.quantity.factor
        span = span_of(points, log=self.log, least=least)
        reach = span.widened(REACH, REACH)
        ends = [end for rule in rules for end in self.interval(rule) or () if self.values(rule)]
        inside = [reach.clipped(end) for end in ends if not math.isnan(end)]
        span = span_of([*points, *inside], log=self.log, least=least)
        if not any(self.fate(rule) for rule in rules):
            return span
        return span.widened(above=EDGE) if self.bad == "above" else span.widened(below=EDGE)


def axes_to_draw(rules: Collection[RuleResult], used: Thresholds) -> list[DiagnosticAxis]:
    """Return an axis for each diagnostic whose quantity training records or an audit has read."""
    axes = [
        DiagnosticAxis(diagnostic, diagnostic.chart, _threshold(diagnostic, rules, used))
        for diagnostic in diagnostics()
        if diagnostic.chart is not None
    ]
    return [
        axis
        for axis in axes
        if axis.quantity.from_epoch is not None
        or any(axis.value(network) is not None for rule in rules for network in rule.networks)
    ]


def _threshold(
    diagnostic: Diagnostic, rules: Collection[RuleResult], used: Thresholds
) -> float | None:
    found = [finding for rule in rules if (finding := rule.finding(diagnostic.id)) is not None]
    if diagnostic.chart is None or (found and all(finding.untested for finding in found)):
        return None
    return diagnostic.chart.quantity.factor * used[diagnostic.chart.threshold.name]
