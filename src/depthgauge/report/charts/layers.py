"""The charts of layers: the readings of networks, layer by layer.

On a page, a reader chooses the number of trained blocks, the seed and the epoch. A figure in a file
has no such choice. It shows the networks with all blocks trained, at the end of training: each
seed, and the mean over seeds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import altair as alt

from depthgauge.diagnosis.report import Report
from depthgauge.gauges.null import CalibratedAlignment
from depthgauge.report.charts.axes import Span, has_place, span_of
from depthgauge.report.charts.colours import SOFT
from depthgauge.report.charts.labels import lost_words, study_title
from depthgauge.report.charts.over_seeds import mean_over_seeds
from depthgauge.report.charts.panel import SAYS, Figure, Panel, layer_of
from depthgauge.report.charts.rule_styles import RuleScales
from depthgauge.results.network import NetworkResult
from depthgauge.results.run import RunResult
from depthgauge.results.study import StudyResult

SPREADS = 2
"""The band of fresh feedback reaches from 2 spreads below its mean to 2 spreads above."""

EMBEDDING = "embed"

Values = Sequence[float | None]


@dataclass(frozen=True)
class LayerCurve:
    """One value for each layer of a network after an epoch.

    Attributes:
        rule, seed: the label of the rule, and the seed of the network.
        k: the number of trained blocks of the network.
        epoch: the epoch of the values.
        is_last: whether the epoch is the last of a run.
        run: the id of the run; None for a network that was trained elsewhere.
        values: one value for each layer, from the quantity's `first` layer on.
    """

    rule: str
    seed: int
    k: int
    epoch: int
    is_last: bool
    run: str | None
    values: Values


@dataclass(frozen=True)
class Band:
    """For each layer of a network, the range of the alignment Γ with fresh random feedback."""

    rule: str
    seed: int
    k: int
    low: Values
    high: Values


@dataclass(frozen=True)
class LayerQuantity:
    """The quantity of a panel: id, title, titles of the axes, and whether y is logarithmic.

    `first` is the first layer with a value. Layer 0 is the embedding, layer 1 is block 0, and so
    on.
    """

    id: str
    title: str
    x: str
    y: str
    first: int = 0
    log: bool = False


STREAM = LayerQuantity("layers-h", "Stream", "after block", "‖h_l‖", log=True)
GRADIENT = LayerQuantity("layers-g", "True gradient of a sample", "after block", "‖g_l‖", log=True)
ALIGNMENT = LayerQuantity(
    "layers-gamma", "Γ: credit against the true gradient", "credit of block", "Γ"
)
PERTURBATION = LayerQuantity(
    "layers-rho", "ρ: change of the loss, predicted", "credit of block", "ρ"
)
LESION = LayerQuantity(
    "layers-lesion", "Lesion: a block is skipped", "block", "accuracy lost, points", first=1
)
REWIND = LayerQuantity(
    *("layers-rewind", "Rewind: a block gets its initial weights back", "block"),
    *("accuracy lost, points", 1),
)


def reason_missing(study: StudyResult) -> str | None:
    """Say why the study has no readings of layers to draw; None if it has some."""
    curves = [curve for some in layer_curves(study).values() for curve in some]
    if any(curve.k == _blocks(study) for curve in curves):
        return None
    return (
        "has no recorded epochs of a run with all blocks trained and no audit, so there are no "
        "layers to draw"
    )


def draw(study: StudyResult) -> Figure:
    """Draw the readings of each layer at the end of training."""
    read = [rule.label for rule in study.rules.values() if rule.networks]
    drawn = panels(study, RuleScales(list(study), read))
    return Figure(drawn, columns=2, title=study_title(study.config))


def panels(study: StudyResult, scales: RuleScales) -> list[Panel]:
    """Return a panel for each quantity that has a value for some layer."""
    curves = layer_curves(study)
    blocks = _blocks(study)
    last = max((curve.epoch for some in curves.values() for curve in some), default=0)
    choices = {"k": blocks, "seed": "all", "epoch": last}
    networks = [network for rule in study.rules.values() for network in rule.networks]
    lost = lost_words([network.label for network in networks if network.diverged])
    null = bands(study)
    drawn = [
        _panel(quantity, some, null if quantity is ALIGNMENT else [], scales, choices)
        for quantity, some in curves.items()
        if some
    ]
    return [replace(panel, note=lost) if panel.id == STREAM.id else panel for panel in drawn]


def layer_curves(study: StudyResult) -> dict[LayerQuantity, list[LayerCurve]]:
    """Return the curves of each quantity.

    Training records the norms after each epoch. All other readings come from the audit. If training
    recorded no epoch of a network, the norms come from the audit too.
    """
    runs = [run for run in study.runs if run.config.is_rung and run.epochs]
    networks = [network for rule in study.rules.values() for network in rule.networks]
    known = {run.identity for run in runs}
    unrecorded = [network for network in networks if network.run not in known]
    return {
        STREAM: [*_recorded(study, runs, "h_norm"), *_read(study, unrecorded, STREAM)],
        GRADIENT: [*_recorded(study, runs, "g_norm"), *_read(study, unrecorded, GRADIENT)],
        ALIGNMENT: list(_read(study, networks, ALIGNMENT)),
        PERTURBATION: list(_read(study, networks, PERTURBATION)),
        LESION: list(_read(study, networks, LESION)),
        REWIND: list(_read(study, networks, REWIND)),
    }


def bands(study: StudyResult) -> list[Band]:
    """Return the band of each network whose alignment was compared with fresh feedback."""
    found = []
    for rule in study.rules.values():
        for network in rule.networks:
            null = network.report.null if network.report else None
            if null is not None:
                low, high = (
                    [_edge(layer, side) for layer in null.per_layer] for side in (-SPREADS, SPREADS)
                )
                found.append(Band(network.label, network.seed, _blocks(study), low, high))
    return found


def _blocks(study: StudyResult) -> int:
    return study.config.net.blocks if study.config.net else 0


def _edge(layer: CalibratedAlignment, spreads: int) -> float | None:
    mean, spread = layer.mean, layer.spread
    return None if mean is None or spread is None else mean + spreads * spread


def _recorded(study: StudyResult, runs: Sequence[RunResult], name: str) -> Iterator[LayerCurve]:
    """Yield the curves of a metric that training recorded.

    If a run trains all blocks of its network, its curve gets the number of blocks of the study as
    k. A control with fewer blocks is then drawn beside the other rules.
    """
    for run in runs:
        last = run.epochs[-1]["epoch"]
        k = _blocks(study) if run.is_full else run.config.k
        for line in run.epochs:
            values: Any = line.get(name)
            if values:
                epoch, config = line["epoch"], run.config
                yield LayerCurve(
                    *(run.label, config.seed, k, epoch, epoch == last, run.identity), values
                )


def _read(
    study: StudyResult, networks: Sequence[NetworkResult], quantity: LayerQuantity
) -> Iterator[LayerCurve]:
    """Yield the curves of a quantity from the audit's reports, at the end of training."""
    for network in networks:
        values = _reported(network.report, quantity) if network.report else ()
        if any(value is not None for value in values):
            yield LayerCurve(
                *(network.label, network.seed, _blocks(study), 0, True, network.run), values
            )


def _reported(report: Report, quantity: LayerQuantity) -> Values:
    alignment, perturbation, rewind = report.alignment, report.perturbation, report.rewind
    values: Mapping[LayerQuantity, Values] = {
        STREAM: report.residual_norms,
        GRADIENT: report.bp_grad_norms,
        ALIGNMENT: alignment.per_layer if alignment else (),
        PERTURBATION: perturbation.per_layer if perturbation else (),
        LESION: _points(report.lesion.per_layer),
        REWIND: _points(rewind.per_layer) if rewind else (),
    }
    return values[quantity]


def _points(shares: Values) -> Values:
    return [None if share is None else 100 * share for share in shares]


def _panel(
    quantity: LayerQuantity,
    curves: Sequence[LayerCurve],
    null: Sequence[Band],
    scales: RuleScales,
    choices: Mapping[str, Any],
) -> Panel:
    values = [value for curve in curves for value in curve.values]
    values += [value for band in null for value in (*band.low, *band.high)]
    span = span_of(values if quantity.log else [0.0, *values], log=quantity.log)
    count = max(len(curve.values) for curve in curves)
    drawing = _Drawing(quantity, span, range(quantity.first, quantity.first + count), scales)
    rows: dict[str, Sequence[Any]] = {"curves": [_drawable(curve, quantity) for curve in curves]}
    if null:
        rows["bands"] = null
    if not quantity.log:
        rows["zero"] = [_Zero()]
    blocks = {curve.k for curve in curves}
    if len(blocks) == 1:
        rows["else"] = [_OtherRungs(blocks.pop())]
    return Panel(
        id=quantity.id,
        title=quantity.title,
        description=f"{quantity.title}, layer by layer, one line for each rule",
        layers=drawing.layers(rows),
        rows=rows,
        choices=choices,
        height=200,
        width=300,
        note=f"band: fresh feedback, ± {SPREADS} spreads" if null else "",
    )


def _drawable(curve: LayerCurve, quantity: LayerQuantity) -> LayerCurve:
    """Return the curve, with None in place of each value that the axis cannot show."""
    values = [value if has_place(value, quantity.log) else None for value in curve.values]
    return replace(curve, values=values)


@dataclass(frozen=True)
class _Zero:
    """The line at zero, which stands for no alignment, no prediction or no loss of accuracy."""

    value: float = 0.0


@dataclass(frozen=True)
class _OtherRungs:
    """The note that a panel shows if a reader chooses a number of trained blocks other than `k`."""

    k: int
    says: str = "only known with all blocks trained"


@dataclass(frozen=True)
class _Drawing:
    """The axes and styles that all marks of a panel share."""

    quantity: LayerQuantity
    span: Span
    places: range
    scales: RuleScales

    def layers(self, rows: Mapping[str, Sequence[Any]]) -> list[alt.Chart]:
        """Return the Vega-Lite layers of the panel, the lowest first: bands, lines, points."""
        drawn = []
        if "bands" in rows:
            drawn.append(self._bands())
        if "zero" in rows:
            drawn.append(layer_of("zero", "rule", color=SOFT).encode(y=self._y("value")))
        if "else" in rows:
            drawn.append(self._other_rungs())
        return [*drawn, self._seeds(), self._means(), self._points()]

    @property
    def _x(self) -> alt.X:
        axis = alt.Axis(
            title=self.quantity.x,
            values=list(self.places[:: len(self.places) // 12 + 1]),
            labelExpr=f"datum.value === 0 ? '{EMBEDDING}' : format(datum.value - 1, 'd')",
            grid=False,
        )
        ends = [self.places[0] - 0.2, self.places[-1] + 0.2]
        scale = alt.Scale(domain=ends, nice=False, zero=False)
        return alt.X("layer:Q", scale=scale, axis=axis)

    def _y(self, field: str) -> alt.Y:
        return alt.Y(
            f"{field}:Q", scale=self.span.scale, axis=self.span.axis(self.quantity.y, most=6)
        )

    def _values(self, mark: str, **style: Any) -> alt.Chart:
        """Return an unfinished Vega-Lite layer; its data have a row for each value of a curve."""
        chart: alt.Chart = (
            layer_of("curves", mark, by=["rule", "k", "seed", "epoch"], **style)
            .transform_flatten(["values"], ["value"])
            .transform_window(place="row_number()", groupby=["rule", "seed", "run"])
            .transform_calculate(layer=f"datum.place - 1 + {self.quantity.first}")
        )
        return chart

    def _seeds(self) -> alt.Chart:
        return self._values("line", strokeWidth=0.9, strokeOpacity=0.35, cursor="pointer").encode(
            x=self._x, y=self._y("value"), color=self.scales.colour, detail=["seed:N", "run:N"]
        )

    def _mean(self, mark: str, **style: Any) -> alt.Chart:
        place = "(datum.layer ? 'block ' + (datum.layer - 1) : 'embedding')"
        return mean_over_seeds(self._values(mark, **style), "layer", place, self.quantity.log)

    def _means(self) -> alt.Chart:
        return self._mean("line", strokeWidth=2.2).encode(
            x=self._x, y=self._y("mean"), color=self.scales.colour, strokeDash=self.scales.dash
        )

    def _points(self) -> alt.Chart:
        return self._mean("point", filled=True, size=50, opacity=1).encode(
            x=self._x,
            y=self._y("mean"),
            color=self.scales.colour,
            shape=self.scales.shape,
            tooltip=SAYS,
        )

    def _other_rungs(self) -> alt.Chart:
        """Draw the note that says why the panel is empty."""
        middle = [alt.value({"expr": f"{side} / 2"}) for side in ("width", "height")]
        chart: alt.Chart = layer_of("else", "text").transform_filter("datum.k !== k")
        return chart.encode(x=middle[0], y=middle[1], text="says:N")

    def _bands(self) -> alt.Chart:
        chart = (
            layer_of("bands", "area", by=["rule", "k", "seed"], opacity=1, fillOpacity=0.15)
            .transform_flatten(["low", "high"])
            .transform_window(place="row_number()", groupby=["rule", "seed"])
            .transform_calculate(layer="datum.place - 1")
            .transform_aggregate(low="mean(low)", high="mean(high)", groupby=["rule", "layer"])
        )
        return chart.encode(x=self._x, y=self._y("low"), y2="high:Q", color=self.scales.colour)
