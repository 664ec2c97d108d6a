"""Training: accuracy, loss and what the diagnostics read, epoch by epoch.

A thin line is a seed, a thick one the mean over seeds. A star is the epoch at which the panel's
diagnostic first fires with a seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from depthgauge.diagnostics.contract import Threshold
from depthgauge.diagnostics.registry import diagnostics
from depthgauge.report.charts.axes import Span, has_place, span_of
from depthgauge.report.charts.colours import INK, SOFT
from depthgauge.report.charts.labels import number, plain, study_title
from depthgauge.report.charts.over_seeds import mean_over_seeds
from depthgauge.report.charts.panel import SAYS, Figure, Panel, layer_of
from depthgauge.report.charts.rule_styles import RuleScales
from depthgauge.results.run import RunResult
from depthgauge.results.study import StudyResult
from depthgauge.verdict.first_fired import readings_from_metrics
from depthgauge.verdict.thresholds import Thresholds

STAR = "M0-1.3L.38-.45L1.3-.42L.6.16L.82 1.05L0 .55L-.82 1.05L-.6.16L-1.3-.42L-.38-.45Z"
LEAST_HEIGHT = 1e-6
"""The smallest span of a linear axis: a value that never changes still has an axis."""

ByEpoch = Mapping[int, float | None]


@dataclass(frozen=True)
class EpochCurve:
    """One value for each epoch of a run, from epoch 0 on; None where there is none to draw."""

    rule: str
    seed: int
    k: int
    run: str
    says: str
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class FirstFired:
    """The epoch at which a diagnostic first fires in a run, and where that is drawn."""

    rule: str
    seed: int
    k: int
    run: str
    epoch: int
    value: float
    says: str


@dataclass(frozen=True)
class Line:
    """A threshold, or chance."""

    value: float
    says: str


@dataclass(frozen=True)
class Recorded:
    """What training records: a panel shows it.

    Attributes:
        id, title, axis: of the panel.
        by_epoch: reads it from a run, in the unit in which it is shown.
        diagnostic: which one decides by it; empty if none does.
        threshold: of that diagnostic, with its value in this study.
        log: whether the axis is logarithmic.
        line: what else is drawn.
    """

    id: str
    title: str
    axis: str
    by_epoch: Callable[[RunResult], ByEpoch]
    diagnostic: str = ""
    threshold: Threshold | None = None
    line: Line | None = None
    log: bool = False


@dataclass(frozen=True)
class TrainingData:
    """What a panel shows."""

    span: Span
    epochs: int
    curves: tuple[EpochCurve, ...]
    fired: tuple[FirstFired, ...]
    lines: tuple[Line, ...]


def reason_missing(study: StudyResult) -> str | None:
    """Say why the study has no training to draw; None where it has some."""
    if any(run.is_full for run in _runs(study)):
        return None
    return "has no recorded epochs of a run with all blocks trained, so there is nothing to draw"


def draw(study: StudyResult) -> Figure:
    """Draw the training of networks with all blocks trained."""
    labels = [run.label for run in _runs(study) if run.is_full]
    drawn = panels(study, RuleScales(list(study), labels))
    return Figure(drawn, columns=2, title=study_title(study.config))


def panels(study: StudyResult, scales: RuleScales) -> list[Panel]:
    """Return a panel for everything that these runs have recorded."""
    runs = _runs(study)
    found = [
        (one, training_data(one, runs, study.thresholds))
        for one in recorded(study.thresholds, study.chance)
    ]
    k = max((run.config.k for run in runs), default=0)
    lost = _lost_words([run for run in runs if run.config.k == k])
    return [_panel(one, data, scales, k, lost) for one, data in found if data.curves]


def recorded(used: Thresholds, chance: float | None) -> list[Recorded]:
    """Return everything that training may record."""
    line = None if chance is None else Line(100 * chance, f"chance: {100 * chance:.1f} %")
    own = [
        Recorded("training-accuracy", "Accuracy", "%", _own("accuracy", 100), line=line),
        Recorded("training-loss", "Loss on training samples", "loss", _own("train_loss", 1)),
    ]
    return own + [
        _of_threshold(diagnostic.id, threshold, used)
        for diagnostic in diagnostics()
        for threshold in diagnostic.thresholds
        if threshold.quantity.from_epoch is not None
    ]


def training_data(one: Recorded, runs: Sequence[RunResult], used: Thresholds) -> TrainingData:
    """Return what the panel of a recorded quantity shows."""
    curves = [curve for run in runs if (curve := _curve(one, run)) is not None]
    lines = (one.line,) if one.line else ()
    values = [value for curve in curves for value in curve.values]
    span = span_of([*values, *(line.value for line in lines)], log=one.log, least=LEAST_HEIGHT)
    if one.id == "training-accuracy":
        span = Span(0.0, span.high)
    fired = [
        mark
        for run, curve in zip([run for run in runs if _curve(one, run)], curves, strict=True)
        for mark in _first_fired(one, run, curve, span, used)
    ]
    epochs = max((len(curve.values) for curve in curves), default=1) - 1
    return TrainingData(span, epochs, tuple(curves), tuple(fired), lines)


def _runs(study: StudyResult) -> list[RunResult]:
    """Return the ladder's runs that have recorded epochs, and that trained some block."""
    return [run for run in study.runs if run.config.is_rung and run.config.k and run.epochs]


def _own(name: str, factor: float) -> Callable[[RunResult], ByEpoch]:
    def by_epoch(run: RunResult) -> ByEpoch:
        lines: Sequence[Any] = run.epochs
        return {line["epoch"]: _times(factor, line.get(name)) for line in lines}

    return by_epoch


def _of_threshold(diagnostic: str, threshold: Threshold, used: Thresholds) -> Recorded:
    quantity, value = threshold.quantity, threshold.quantity.factor * used[threshold.name]

    def by_epoch(run: RunResult) -> ByEpoch:
        return {
            read.epoch: _times(quantity.factor, read.values.get(quantity.name))
            for read in readings_from_metrics(run.epochs)
        }

    return Recorded(
        id=f"training-{quantity.name}",
        title=f"{quantity.label} ({diagnostic})",
        axis=quantity.unit,
        by_epoch=by_epoch,
        diagnostic=diagnostic,
        threshold=threshold,
        line=Line(value, f"threshold: {threshold.fires} {number(value)}"),
        log=quantity.log,
    )


def _times(factor: float, value: float | None) -> float | None:
    return None if value is None else factor * value


def _curve(one: Recorded, run: RunResult) -> EpochCurve | None:
    by_epoch = one.by_epoch(run)
    shown = {at: value for at, value in by_epoch.items() if has_place(value, one.log)}
    if not shown:
        return None
    values = tuple(shown.get(epoch) for epoch in range(max(shown) + 1))
    config = run.config
    says = f"{plain(run.label)}, k = {config.k}, seed {config.seed}"
    return EpochCurve(run.label, config.seed, config.k, run.identity, says, values)


def _first_fired(
    one: Recorded, run: RunResult, curve: EpochCurve, span: Span, used: Thresholds
) -> Iterator[FirstFired]:
    """Mark the curve; at the bad end of the axis where the value has no place on it."""
    epoch = run.first_fired(used).get(one.diagnostic)
    if epoch is None or one.threshold is None:
        return
    value = curve.values[epoch] if epoch < len(curve.values) else None
    if value is None:
        value = span.ends[1 if one.threshold.fires == "above" else 0]
    says = f"{curve.says}: {one.diagnostic} first fires at epoch {epoch}"
    yield FirstFired(curve.rule, curve.seed, curve.k, curve.run, epoch, value, says)


def _lost_words(runs: Sequence[RunResult]) -> str:
    lost = [run.label for run in runs if run.state == "diverged"]
    counts = {label: lost.count(label) for label in dict.fromkeys(lost)}
    return "; ".join(f"{plain(label)}: {count} diverged" for label, count in counts.items())


def _panel(one: Recorded, data: TrainingData, scales: RuleScales, k: int, note: str) -> Panel:
    drawing = _Drawing(one, data, scales)
    rows: dict[str, Sequence[Any]] = {"curves": data.curves}
    rows |= {"fired": data.fired} if data.fired else {}
    rows |= {"lines": data.lines} if data.lines else {}
    return Panel(
        id=one.id,
        title=one.title,
        description=f"{one.title} by epoch, one line for each run",
        layers=drawing.layers(rows),
        rows=rows,
        choices={"k": k},
        height=180,
        width=300,
        note=note if one.id == "training-accuracy" else "",
    )


@dataclass(frozen=True)
class _Drawing:
    """The axes and styles that all layers of a panel share."""

    one: Recorded
    data: TrainingData
    scales: RuleScales

    def layers(self, rows: Mapping[str, Sequence[Any]]) -> list[alt.Chart]:
        """Return what is drawn, from below to above."""
        drawn = [self._lines()] if "lines" in rows else []
        drawn += [self._seeds(), self._means(), self._mean_points()]
        return [*drawn, self._fired()] if "fired" in rows else drawn

    @property
    def _x(self) -> alt.X:
        scale = alt.Scale(domain=[0, max(1, self.data.epochs)], nice=False, zero=False)
        axis = alt.Axis(title="epoch", tickMinStep=1, tickCount=6, format="d", grid=False)
        return alt.X("epoch:Q", scale=scale, axis=axis)

    def _y(self, field: str) -> alt.Y:
        axis = self.data.span.axis(self.one.axis or None, most=5)
        return alt.Y(f"{field}:Q", scale=self.data.span.scale, axis=axis)

    def _values(self, mark: str, **style: Any) -> alt.Chart:
        """Begin a layer with a row for each epoch of each run."""
        chart: alt.Chart = (
            layer_of("curves", mark, by=["rule", "k"], **style)
            .transform_calculate(epochs="sequence(0, length(datum.values))")
            .transform_flatten(["values", "epochs"], ["value", "epoch"])
        )
        return chart

    def _seeds(self) -> alt.Chart:
        return self._values("line", strokeWidth=1, opacity=0.35, cursor="pointer").encode(
            x=self._x,
            y=self._y("value"),
            color=self.scales.colour,
            detail="run:N",
            tooltip=SAYS,
        )

    def _mean(self, mark: str, **style: Any) -> alt.Chart:
        place = "'epoch ' + datum.epoch"
        return mean_over_seeds(self._values(mark, **style), "epoch", place, self.one.log)

    def _means(self) -> alt.Chart:
        return self._mean("line", strokeWidth=2.4).encode(
            x=self._x, y=self._y("mean"), color=self.scales.colour, strokeDash=self.scales.dash
        )

    def _mean_points(self) -> alt.Chart:
        """Points that are not seen: they say what is below the pointer."""
        return self._mean("point", filled=True, size=60, opacity=0).encode(
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
