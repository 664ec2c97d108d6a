"""The axis of each diagnostic's panel: what is drawn on it, and on which side it is bad."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

from depthgauge.diagnostics.contract import Chart, Diagnostic, Quantity, Side
from depthgauge.diagnostics.registry import diagnostics
from depthgauge.report.figures.text import number
from depthgauge.report.tables.diagnostic_columns import measured
from depthgauge.results.rule import RuleResult
from depthgauge.verdict.thresholds import Thresholds


@dataclass(frozen=True)
class DiagnosticAxis:
    """What a diagnostic decides by, in the unit in which it is shown.

    Attributes:
        diagnostic, chart: whose axis it is, and its facts.
        threshold: where it becomes bad; None where no rule could be judged by it.
    """

    diagnostic: Diagnostic
    chart: Chart
    threshold: float | None

    @property
    def title(self) -> str:
        """What stands above the panel."""
        return self.diagnostic.name

    @property
    def label(self) -> str:
        """What stands below the panel."""
        if self.threshold is None:
            return f"{self.chart.axis}\nno rule is judged by it here"
        return f"{self.chart.axis}\n{self.chart.word} {self.bad} {number(self.threshold)}"

    @property
    def quantity(self) -> Quantity:
        """What is drawn."""
        return self.chart.quantity

    @property
    def bad(self) -> Side:
        """The side of the threshold on which the diagnostic fires."""
        return self.chart.threshold.fires

    @property
    def log(self) -> bool:
        """Whether the axis is logarithmic."""
        return self.quantity.log

    def values(self, view: RuleResult) -> list[float | None]:
        """Of each network of a rule."""
        read = [measured(network, self.quantity) for network in view.networks]
        return [None if value is None else self.quantity.factor * value for value in read]

    def ends(self, view: RuleResult) -> tuple[float, float] | None:
        """The rule's interval over seeds; None where there is none that says anything."""
        finding = view.finding(self.diagnostic.id)
        found = finding.intervals.get(self.quantity.name) if finding else None
        if finding is None or found is None or found.is_point or math.isinf(found.center):
            return None
        if finding.straddles and self.quantity.is_too_wide(found):
            return None
        return self.quantity.factor * found.low, self.quantity.factor * found.high


def axes_to_draw(views: Collection[RuleResult], used: Thresholds) -> list[DiagnosticAxis]:
    """Return an axis for each diagnostic that training records, or that was read otherwise."""
    axes = [
        DiagnosticAxis(one, one.chart, _threshold(one, one.chart, views, used))
        for one in diagnostics()
        if one.chart is not None
    ]
    return [
        axis
        for axis in axes
        if axis.quantity.from_epoch is not None
        or any(value is not None for view in views for value in axis.values(view))
    ]


def _threshold(
    diagnostic: Diagnostic, chart: Chart, views: Collection[RuleResult], used: Thresholds
) -> float | None:
    found = [finding for view in views if (finding := view.finding(diagnostic.id)) is not None]
    if found and all(finding.untested for finding in found):
        return None
    return chart.quantity.factor * used[chart.threshold.name]
