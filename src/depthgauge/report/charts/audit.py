"""The audit: a panel for each diagnostic, with each rule's readings beside the threshold.

A point is a seed; a bar is the rule's interval over seeds. The diagnostic fires on the shaded side
of the threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import altair as alt

from depthgauge.number_format import in_form
from depthgauge.report.charts.axes import Span
from depthgauge.report.charts.colours import BAD_SIDE, PAPER, SOFT
from depthgauge.report.charts.diagnostic_axis import DiagnosticAxis, axes_to_draw
from depthgauge.report.charts.labels import FORM, plain, study_title
from depthgauge.report.charts.panel import SAYS, Figure, Panel, layer_of
from depthgauge.report.charts.rule_styles import RuleScales
from depthgauge.results.network import NetworkResult
from depthgauge.results.rule import RuleResult
from depthgauge.results.study import StudyResult
from depthgauge.verdict.thresholds import Thresholds

ROW = 24
"""Height of a rule's row in pixels."""


@dataclass(frozen=True)
class SeedReading:
    """One network's reading of a diagnostic, drawn as a point."""

    rule: str
    value: float
    run: str | None
    says: str


@dataclass(frozen=True)
class IntervalBar:
    """A rule's interval over seeds, cut at the ends of the axis."""

    rule: str
    low: float
    high: float
    says: str


@dataclass(frozen=True)
class Arrow:
    """An arrow at the end of the axis, for an interval that extends beyond the axis."""

    rule: str
    value: float
    sign: str


@dataclass(frozen=True)
class Fate:
    """Words for the networks that the axis cannot show, such as `2 diverged`."""

    rule: str
    value: float
    words: str


@dataclass(frozen=True)
class Limit:
    """The threshold of a diagnostic, and the side on which the diagnostic fires."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class AuditData:
    """The data of a diagnostic's panel; `labels` has the rules, sorted from good to bad."""

    labels: tuple[str, ...]
    span: Span
    limits: tuple[Limit, ...]
    intervals: tuple[IntervalBar, ...]
    arrows: tuple[Arrow, ...]
    seeds: tuple[SeedReading, ...]
    fates: tuple[Fate, ...]


def reason_missing(study: StudyResult) -> str | None:
    """Say why the study has no readings to draw; None if it has some."""
    if any(rule.networks for rule in study.rules.values()):
        return None
    return (
        "has no finished run with all blocks trained, so there are no readings to draw; "
        "`depthgauge audit` makes them"
    )


def draw(study: StudyResult) -> Figure:
    """Draw a panel for each diagnostic."""
    scales = RuleScales(list(study))
    drawn = panels(list(study.rules.values()), study.thresholds, scales)
    return Figure(drawn, columns=2, title=study_title(study.config))


def panels(rules: Collection[RuleResult], used: Thresholds, scales: RuleScales) -> list[Panel]:
    """Return a panel for each diagnostic; an empty list if no network of the rules was read."""
    read = [rule for rule in rules if rule.networks]
    axes = axes_to_draw(read, used) if read else []
    return [_panel(axis, read, scales) for axis in axes]


def audit_data(axis: DiagnosticAxis, rules: Collection[RuleResult]) -> AuditData:
    """Return the data of a diagnostic's panel."""
    rows, span = sorted(rules, key=axis.badness), axis.span(rules)
    low, high = span.ends
    limits = [] if axis.threshold is None else [_limit(axis, axis.threshold, span)]
    bars = [(rule, axis.interval(rule)) for rule in rows if axis.values(rule)]
    known = [(rule, *ends) for rule, ends in bars if ends is not None]
    edge = high if axis.bad == "above" else low
    return AuditData(
        labels=tuple(rule.label for rule in rows),
        span=span,
        limits=tuple(limits),
        intervals=tuple(
            IntervalBar(
                rule.label,
                span.clipped(start),
                span.clipped(end),
                f"{plain(rule.label)}: [{in_form(start, FORM)}, {in_form(end, FORM)}] over seeds",
            )
            for rule, start, end in known
        ),
        arrows=tuple(
            Arrow(rule.label, at, sign)
            for rule, start, end in known
            for is_beyond, at, sign in ((start < low, low, "◂"), (end > high, high, "▸"))
            if is_beyond
        ),
        seeds=tuple(
            reading
            for rule in rows
            for network in rule.networks
            if (reading := _reading(axis, rule, network)) is not None
        ),
        fates=tuple(
            Fate(rule.label, edge, words if words == "not read" else f"✕ {words}")
            for rule in rows
            if (words := axis.fate(rule))
        ),
    )


def _limit(axis: DiagnosticAxis, threshold: float, span: Span) -> Limit:
    low, high = span.ends
    return Limit(threshold, *((threshold, high) if axis.bad == "above" else (low, threshold)))


def _reading(axis: DiagnosticAxis, rule: RuleResult, network: NetworkResult) -> SeedReading | None:
    value = axis.value(network)
    if value is None or value not in axis.values(rule):
        return None
    unit = f" {axis.quantity.unit}" if axis.quantity.unit else ""
    says = f"{plain(rule.label)}, seed {network.seed}: {in_form(value, FORM)}{unit}"
    return SeedReading(rule.label, value, network.run, says)


def _panel(axis: DiagnosticAxis, rules: Sequence[RuleResult], scales: RuleScales) -> Panel:
    data = audit_data(axis, rules)
    drawing = _Drawing(axis, data, scales)
    rows = {name: getattr(data, name) for name, _ in LAYERS}
    return Panel(
        id=f"audit-{axis.diagnostic.id}",
        title=axis.diagnostic.name,
        description=f"{axis.diagnostic.name}: {axis.chart.axis}, one row for each rule",
        layers=[draw_layer(drawing) for name, draw_layer in LAYERS if rows[name]],
        rows={name: some for name, some in rows.items() if some},
        height=ROW * max(3, len(rules)),
        width=300,
    )


@dataclass(frozen=True)
class _Drawing:
    """The axes and styles that all layers share."""

    axis: DiagnosticAxis
    data: AuditData
    scales: RuleScales

    def x(self, name: str = "value") -> alt.X:
        axis = self.data.span.axis(None, most=5)
        axis["title"] = self.axis.title
        return alt.X(f"{name}:Q", scale=self.data.span.scale, axis=axis)

    @property
    def y(self) -> alt.Y:
        axis = alt.Axis(title=None, ticks=False, domain=False, grid=False, labelLimit=150)
        return alt.Y("rule:N", scale=alt.Scale(domain=list(self.data.labels)), axis=axis)


def _bad_side(drawing: _Drawing) -> alt.Chart:
    return layer_of("limits", "rect", color=BAD_SIDE).encode(x=drawing.x("low"), x2="high:Q")


def _threshold(drawing: _Drawing) -> alt.Chart:
    return layer_of("limits", "rule", color=SOFT, strokeDash=[4, 3]).encode(x=drawing.x())


def _intervals(drawing: _Drawing) -> alt.Chart:
    return layer_of("intervals", "rule", by=["rule"], strokeWidth=1.6).encode(
        x=drawing.x("low"), x2="high:Q", y=drawing.y, color=drawing.scales.colour, tooltip=SAYS
    )


def _arrows(drawing: _Drawing) -> alt.Chart:
    align = {"expr": "datum.sign === '◂' ? 'left' : 'right'"}
    return layer_of("arrows", "text", by=["rule"], fontSize=13, align=align).encode(
        x=drawing.x(), y=drawing.y, text="sign:N", color=drawing.scales.colour
    )


def _seeds(drawing: _Drawing) -> alt.Chart:
    style = {"filled": True, "size": 55, "opacity": 1, "stroke": PAPER, "strokeWidth": 0.6}
    return layer_of("seeds", "point", by=["rule"], cursor="pointer", **style).encode(
        x=drawing.x(),
        y=drawing.y,
        fill=drawing.scales.fill,
        shape=drawing.scales.shape,
        tooltip=SAYS,
    )


def _fates(drawing: _Drawing) -> alt.Chart:
    align, dx = ("right", -4) if drawing.axis.bad == "above" else ("left", 4)
    return layer_of("fates", "text", by=["rule"], align=align, dx=dx, color=SOFT).encode(
        x=drawing.x(), y=drawing.y, text="words:N"
    )


LAYERS: tuple[tuple[str, Callable[[_Drawing], alt.Chart]], ...] = (
    ("limits", _bad_side),
    ("limits", _threshold),
    ("intervals", _intervals),
    ("arrows", _arrows),
    ("seeds", _seeds),
    ("fates", _fates),
)
"""The layers from below to above: the name of the rows, and the function that draws them."""
