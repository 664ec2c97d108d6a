"""The charts of training: accuracy, loss and the readings of diagnostics, epoch by epoch.

A thin line is a seed, a thick line is the mean over seeds. A star marks the epoch at which the
panel's diagnostic first fires for a seed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from depthgauge.diagnostics.contract import Threshold
from depthgauge.diagnostics.registry import diagnostics
from depthgauge.gauges.epoch_metrics import EpochMetrics
from depthgauge.number_format import in_form
from depthgauge.report.charts.axes import Span, has_place, span_of
from depthgauge.report.charts.colours import INK, SOFT
from depthgauge.report.charts.labels import FORM, lost_words, plain, study_title
from depthgauge.report.charts.over_seeds import mean_over_seeds
from depthgauge.report.charts.panel import SAYS, Figure, Panel, layer_of
from depthgauge.report.charts.rule_styles import RuleScales
from depthgauge.results.run import RunResult
from depthgauge.results.study import StudyResult
from depthgauge.verdict.first_fired import EpochReadings, first_fired, readings_from_metrics
from depthgauge.verdict.thresholds import Thresholds

STAR = "M0-1.3L.38-.45L1.3-.42L.6.16L.82 1.05L0 .55L-.82 1.05L-.6.16L-1.3-.42L-.38-.45Z"
ACCURACY = "training-accuracy"

LEAST_HEIGHT = 1e-6
"""The smallest span of a linear axis: a value that never changes still has an axis."""

ByEpoch = Mapping[int, float | None]


@dataclass(frozen=True)
class EpochCurve:
    """One value for each epoch of a run, from epoch 0 on; None where no value can be drawn."""

    rule: str
    seed: int
    k: int
    run: str
    says: str
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class FirstFired:
    """The epoch at which a diagnostic first fires in a run, and where the chart marks it."""

    rule: str
    seed: int
    k: int
    run: str
    epoch: int
    value: float
    says: str


@dataclass(frozen=True)
class Line:
    """A horizontal line: a threshold, or the accuracy of chance."""

    value: float
    says: str


@dataclass(frozen=True)
class RunRecords:
    """A run with its metrics, its readings, and the epoch at which each diagnostic first fires."""

    run: RunResult
    lines: Sequence[EpochMetrics]
    readings: Sequence[EpochReadings]
    first_fired: Mapping[str, int | None]


@dataclass(frozen=True)
class Recorded:
    """A quantity that training records, with its panel.

    Attributes:
        id, title, axis: the id, the title and the title of the y axis of the panel.
        by_epoch: returns the values of a run by epoch, in the unit of the panel.
        diagnostic: the id of the diagnostic with a threshold for the quantity; empty without one.
        threshold: the threshold of the diagnostic.
        line: the line to draw, at the study's value of the threshold or at the accuracy of chance.
        log: whether the axis is logarithmic.
    """

    id: str
    title: str
    axis: str
    by_epoch: Callable[[RunRecords], ByEpoch]
    diagnostic: str = ""
    threshold: Threshold | None = None
    line: Line | None = None
    log: bool = False


@dataclass(frozen=True)
class TrainingData:
    """The data of a recorded quantity's panel."""

    span: Span
    epochs: int
    curves: tuple[EpochCurve, ...]
    fired: tuple[FirstFired, ...]
    lines: tuple[Line, ...]


def reason_missing(study: StudyResult) -> str | None:
    """Say why the study has no training to draw; None if it has some."""
    if any(run.is_full for run in _runs(study)):
        return None
    return "has no recorded epochs of a run with all blocks trained, so there is nothing to draw"


def draw(study: StudyResult) -> Figure:
    """Draw the training of networks with all blocks trained."""
    labels = [run.label for run in _runs(study) if run.is_full]
    drawn = panels(study, RuleScales(list(study), labels))
    return Figure(drawn, columns=2, title=study_title(study.config))


def panels(study: StudyResult, scales: RuleScales) -> list[Panel]:
    """Return a panel for each quantity that the study's runs have recorded."""
    runs = _runs(study)
    records = [run_records(run, study.thresholds) for run in runs]
    found = [
        (quantity, training_data(quantity, records))
        for quantity in recorded(study.thresholds, study.chance)
    ]
    k = max((run.config.k for run in runs), default=0)
    lost = lost_words([run.label for run in runs if run.is_full and run.state == "diverged"])
    return [_panel(quantity, data, scales, k, lost) for quantity, data in found if data.curves]


def run_records(run: RunResult, used: Thresholds) -> RunRecords:
    """Return a run with its readings after each epoch, and when each diagnostic first fires."""
    readings = readings_from_metrics(run.epochs)
    fired = first_fired(readings, used) if run.has_all_epochs else {}
    return RunRecords(run, run.epochs, readings, fired)


def recorded(used: Thresholds, chance: float | None) -> list[Recorded]:
    """Return the quantities that training may record."""
    line = None if chance is None else Line(100 * chance, f"chance: {100 * chance:.1f} %")
    own = [
        Recorded(ACCURACY, "Accuracy", "%", _own("accuracy", 100), line=line),
        Recorded("training-loss", "Loss on training samples", "loss", _own("train_loss", 1)),
    ]
    return own + [
        _of_threshold(diagnostic.id, threshold, used)
        for diagnostic in diagnostics()
        for threshold in diagnostic.thresholds
        if threshold.quantity.from_epoch is not None
    ]


def training_data(quantity: Recorded, records: Sequence[RunRecords]) -> TrainingData:
    """Return the data of a recorded quantity's panel."""
    most = max((record.run.config.k for record in records), default=0)
    curves = [(record, _curve(quantity, record, most)) for record in records]
    drawn = [(record, curve) for record, curve in curves if curve is not None]
    lines = (quantity.line,) if quantity.line else ()
    values = [value for _, curve in drawn for value in curve.values]
    span = span_of([*values, *(line.value for line in lines)], log=quantity.log, least=LEAST_HEIGHT)
    if quantity.id == ACCURACY:
        span = Span(0.0, span.high)
    marks = [_first_fired(quantity, record, curve, span) for record, curve in drawn]
    fired = [mark for mark in marks if mark is not None]
    last = [len(curve.values) - 1 for _, curve in drawn] + [mark.epoch for mark in fired]
    return TrainingData(
        span=span,
        epochs=max(last, default=0),
        curves=tuple(curve for _, curve in drawn),
        fired=tuple(fired),
        lines=lines,
    )


def _runs(study: StudyResult) -> list[RunResult]:
    """Return the ladder's runs that have recorded epochs."""
    return [run for run in study.runs if run.config.is_rung and run.epochs]


def _own(name: str, factor: float) -> Callable[[RunRecords], ByEpoch]:
    def by_epoch(record: RunRecords) -> ByEpoch:
        lines: Sequence[Any] = record.lines
        return {line["epoch"]: _times(factor, line.get(name)) for line in lines}

    return by_epoch


def _of_threshold(diagnostic: str, threshold: Threshold, used: Thresholds) -> Recorded:
    quantity, value = threshold.quantity, threshold.quantity.factor * used[threshold.name]

    def by_epoch(record: RunRecords) -> ByEpoch:
        return {
            read.epoch: _times(quantity.factor, read.values.get(quantity.name))
            for read in record.readings
        }

    return Recorded(
        id=f"training-{quantity.name}",
        title=f"{quantity.label} ({diagnostic})",
        axis=quantity.unit,
        by_epoch=by_epoch,
        diagnostic=diagnostic,
        threshold=threshold,
        line=Line(value, f"threshold: {threshold.fires} {in_form(value, FORM)}"),
        log=quantity.log,
    )


def _times(factor: float, value: float | None) -> float | None:
    return None if value is None else factor * value


def _curve(quantity: Recorded, record: RunRecords, most: int) -> EpochCurve | None:
    """Return the curve of a run; None if no value can be drawn.

    If the run trains all blocks of its network, the curve's k is `most`, the largest k of all runs.
    """
    by_epoch, run = quantity.by_epoch(record), record.run
    shown = {at: value for at, value in by_epoch.items() if has_place(value, quantity.log)}
    if not shown:
        return None
    values = tuple(shown.get(epoch) for epoch in range(max(shown) + 1))
    k, seed = run.config.k, run.config.seed
    says = f"{plain(run.label)}, k = {k}, seed {seed}"
    return EpochCurve(run.label, seed, most if run.is_full else k, run.identity, says, values)


def _first_fired(
    quantity: Recorded, record: RunRecords, curve: EpochCurve, span: Span
) -> FirstFired | None:
    """Return the star on a curve; None if the diagnostic never fires.

    A value that the axis cannot show is marked at the end of the axis beyond the threshold.
    """
    epoch = record.first_fired.get(quantity.diagnostic)
    if epoch is None or quantity.threshold is None:
        return None
    value = curve.values[epoch] if epoch < len(curve.values) else None
    if value is None:
        value = span.ends[1 if quantity.threshold.fires == "above" else 0]
    says = f"{curve.says}: {quantity.diagnostic} first fires at epoch {epoch}"
    return FirstFired(curve.rule, curve.seed, curve.k, curve.run, epoch, value, says)


def _note(quantity: Recorded, data: TrainingData, lost: str) -> str:
    if data.fired:
        return f"★: {quantity.diagnostic} first fires"
    return lost if quantity.id == ACCURACY else ""


def _panel(quantity: Recorded, data: TrainingData, scales: RuleScales, k: int, lost: str) -> Panel:
    drawing = _Drawing(quantity, data, scales)
    rows: dict[str, Sequence[Any]] = {"curves": data.curves}
    rows |= {"fired": data.fired} if data.fired else {}
    rows |= {"lines": data.lines} if data.lines else {}
    return Panel(
        id=quantity.id,
        title=quantity.title,
        description=f"{quantity.title} by epoch, one line for each run",
        layers=drawing.layers(rows),
        rows=rows,
        choices={"k": k},
        height=180,
        width=300,
        note=_note(quantity, data, lost),
    )


@dataclass(frozen=True)
class _Drawing:
    """The axes and styles that all layers of a panel share."""

    quantity: Recorded
    data: TrainingData
    scales: RuleScales

    def layers(self, rows: Mapping[str, Sequence[Any]]) -> list[alt.Chart]:
        """Return the layers of the chart, the lowest first."""
        drawn = [self._lines()] if "lines" in rows else []
        drawn += [self._seeds(), self._means(), self._mean_points()]
        return [*drawn, self._fired()] if "fired" in rows else drawn

    @property
    def _x(self) -> alt.X:
        scale = alt.Scale(domain=[0, max(1, self.data.epochs)], nice=False, zero=False)
        axis = alt.Axis(title="epoch", tickMinStep=1, tickCount=6, format="d", grid=False)
        return alt.X("epoch:Q", scale=scale, axis=axis)

    def _y(self, field: str) -> alt.Y:
        axis = self.data.span.axis(self.quantity.axis or None, most=5)
        return alt.Y(f"{field}:Q", scale=self.data.span.scale, axis=axis)

    def _values(self, mark: str, **style: Any) -> alt.Chart:
        """Return an unfinished layer; its data have a row for each epoch of each run."""
        chart: alt.Chart = (
            layer_of("curves", mark, by=["rule", "k"], **style)
            .transform_calculate(epochs="sequence(0, length(datum.values))")
            .transform_flatten(["values", "epochs"], ["value", "epoch"])
        )
        return chart

    def _seeds(self) -> alt.Chart:
        return self._values("line", strokeWidth=1, strokeOpacity=0.35, cursor="pointer").encode(
            x=self._x,
            y=self._y("value"),
            color=self.scales.colour,
            detail="run:N",
            tooltip=SAYS,
        )

    def _mean(self, mark: str, **style: Any) -> alt.Chart:
        place = "'epoch ' + datum.epoch"
        return mean_over_seeds(self._values(mark, **style), "epoch", place, self.quantity.log)

    def _means(self) -> alt.Chart:
        return self._mean("line", strokeWidth=2.4).encode(
            x=self._x, y=self._y("mean"), color=self.scales.colour, strokeDash=self.scales.dash
        )

    def _mean_points(self) -> alt.Chart:
        """Draw invisible points; they give tooltips to the line of means."""
        return self._mean("point", filled=True, size=60, opacity=1, fillOpacity=0).encode(
            x=self._x, y=self._y("mean"), tooltip=SAYS
        )

    def _lines(self) -> alt.Chart:
        return layer_of("lines", "rule", color=SOFT, strokeDash=[5, 3]).encode(
            y=self._y("value"), tooltip=SAYS
        )

    def _fired(self) -> alt.Chart:
        style = {"filled": True, "shape": STAR, "size": 90, "opacity": 1, "stroke": INK}
        return layer_of("fired", "point", by=["rule", "k"], cursor="pointer", **style).encode(
            x=self._x, y=self._y("value"), fill=self.scales.fill, tooltip=SAYS
        )
