"""The charts of the null calibration: is training feedback better aligned than fresh feedback?

Each rule has a panel, and each seed has a row. The bars of a row are a histogram of the alignment Γ
with fresh random feedback. The line of a row is Γ with the feedback of training. If the line lies
within the bars, any feedback would have been as well aligned. If a reader of the page shows only
one rule, the panels of all rules stay visible.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
from numpy.typing import NDArray

from depthgauge.gauges.null import NullReading
from depthgauge.number_format import in_form
from depthgauge.report.charts.axes import Span, span_of
from depthgauge.report.charts.colours import INK
from depthgauge.report.charts.labels import FORM, plain, study_title
from depthgauge.report.charts.panel import SAYS, Figure, Panel, layer_of
from depthgauge.report.charts.rule_styles import RuleScales
from depthgauge.results.rule import RuleResult
from depthgauge.results.study import StudyResult

BARS, MOST_BARS = 24, 80
"""Most bars over the range of the draws, and over the whole axis."""

NARROWEST = 1e-4
"""The smallest width of a bar, for draws that are all alike."""

HEIGHT, LINE_HEIGHT = 0.8, 0.92
"""Heights of the highest bar and of the training feedback's line, as shares of a row's height."""

ROW = 46
"""Height of a seed's row in pixels."""

COLUMNS = 3


@dataclass(frozen=True)
class HistogramBar:
    """A bar: how many draws of fresh feedback have an alignment between `low` and `high`."""

    rule: str
    low: float
    high: float
    bottom: float
    top: float
    says: str


@dataclass(frozen=True)
class Observed:
    """The line at the alignment of the training feedback."""

    rule: str
    value: float
    bottom: float
    top: float
    run: str | None
    says: str


@dataclass(frozen=True)
class NullData:
    """The data of a rule's panel. Each seed has a row; the first seed is at the top."""

    seeds: tuple[int, ...]
    span: Span
    bars: tuple[HistogramBar, ...]
    observed: tuple[Observed, ...]
    words: str


@dataclass(frozen=True)
class _NetworkNull:
    seed: int
    run: str | None
    draws: Sequence[float]
    reading: NullReading

    @property
    def observed(self) -> float | None:
        return self.reading.deep.observed


def reason_missing(study: StudyResult) -> str | None:
    """Say why the study has no null calibration to draw; None if it has one."""
    if any(_nulls(rule) for rule in study.rules.values()):
        return None
    if study.audit is None:
        return "has no audit, so there is no null calibration to draw; `depthgauge audit` makes one"
    return "has an audit without null calibration: none of its rules has random feedback to redraw"


def draw(study: StudyResult) -> Figure:
    """Draw the null calibration of every rule that has one."""
    drawn = panels(study.rules.values(), RuleScales(list(study)))
    return Figure(drawn, columns=min(COLUMNS, len(drawn)), title=study_title(study.config))


def panels(rules: Collection[RuleResult], scales: RuleScales) -> list[Panel]:
    """Return a panel for each rule that has a null calibration."""
    read = [(rule.label, data) for rule in rules if (data := null_data(rule)) is not None]
    return [_panel(n, label, data, scales) for n, (label, data) in enumerate(read)]


def null_data(rule: RuleResult) -> NullData | None:
    """Return the data of a rule's panel; None if the rule has no null calibration."""
    nulls = _nulls(rule)
    if not nulls:
        return None
    edges = _edges(nulls)
    rows = list(zip(reversed(range(len(nulls))), nulls, strict=True))
    observed = [mark for row, null in rows if (mark := _observed(rule.label, row, null))]
    return NullData(
        seeds=tuple(null.seed for null in nulls),
        span=span_of([*edges, *(mark.value for mark in observed)]),
        bars=tuple(bar for row, null in rows for bar in _bars(rule.label, row, null, edges)),
        observed=tuple(observed),
        words=_words(nulls),
    )


def _nulls(rule: RuleResult) -> list[_NetworkNull]:
    found = []
    for network in rule.networks:
        null = network.report.null if network.report else None
        draws = [draw for draw in null.fresh_deep if math.isfinite(draw)] if null else []
        if null is not None and draws:
            found.append(_NetworkNull(network.seed, network.run, draws, null))
    return found


def _edges(nulls: Sequence[_NetworkNull]) -> NDArray[np.float64]:
    """Return the edges of the bars, which span the draws; no bar is too narrow to be seen."""
    draws = [value for null in nulls for value in null.draws]
    seen = [*draws, *(null.observed for null in nulls if null.observed is not None)]
    low, high = min(draws), max(draws)
    least = max(NARROWEST, (max(seen) - min(seen)) / MOST_BARS)
    count = max(1, min(BARS, math.floor((high - low) / least)))
    width = max((high - low) / count, least)
    return np.asarray([(low + high) / 2 + width * (n - count / 2) for n in range(count + 1)])


def _bars(
    label: str, row: int, null: _NetworkNull, edges: NDArray[np.float64]
) -> list[HistogramBar]:
    counts, _ = np.histogram(np.clip(null.draws, edges[0], edges[-1]), edges)  # edges are rounded
    heights = HEIGHT * counts / max(1, counts.max())
    return [
        HistogramBar(
            *(label, float(low), float(high), row, row + float(height)),
            f"seed {null.seed}: {count} of {len(null.draws)} draws near "
            f"{in_form((low + high) / 2, FORM)}",
        )
        for low, high, height, count in zip(edges, edges[1:], heights, counts, strict=False)
        if count
    ]


def _observed(label: str, row: int, null: _NetworkNull) -> Observed | None:
    if null.observed is None:
        return None
    layers = ", ".join(
        f"{f'block {layer - 1}' if layer else 'embedding'} {read.word}"
        for layer, read in enumerate(null.reading.per_layer)
    )
    says = f"seed {null.seed}: training feedback {null.observed:.3f}, {_word(null)}; {layers}"
    return Observed(label, null.observed, row, row + LINE_HEIGHT, null.run, says)


def _word(null: _NetworkNull) -> str:
    """Return the word of a null calibration, such as *generic*, with the p-value.

    The least possible p-value, 1 / (draws + 1), is written with ≤.
    """
    word, p = null.reading.deep.word, null.reading.deep.p_upper
    if p is None:
        return f"{word} (no p-value)"
    is_least = round(p * (len(null.draws) + 1)) <= 1
    return f"{word} (p {'≤' if is_least else '='} {p:.2g})"


def _words(nulls: Sequence[_NetworkNull]) -> str:
    if len(nulls) == 1:
        return f"{_word(nulls[0])}, {len(nulls[0].draws)} draws"
    words = Counter(null.reading.deep.word for null in nulls)
    counts = [f"{count} {word}" for word, count in words.most_common()]
    found = next(iter(words)) if len(words) == 1 else ", ".join(counts)
    return f"{found}; {len(nulls[0].draws)} draws for each seed"


def _panel(place: int, label: str, data: NullData, scales: RuleScales) -> Panel:
    drawing = _Drawing(data, scales)
    rows = {"bars": data.bars, "observed": data.observed}
    return Panel(
        id=f"null-{place}",
        title=plain(label),
        description=f"Alignments of fresh feedback for {plain(label)}, a histogram for each seed; "
        "lines are those of the training feedback",
        layers=[draw_layer(drawing) for name, draw_layer in LAYERS if rows[name]],
        rows={name: some for name, some in rows.items() if some},
        height=ROW * max(2, len(data.seeds)),
        width=250,
        note=data.words,
    )


@dataclass(frozen=True)
class _Drawing:
    """The axes and styles that all layers share."""

    data: NullData
    scales: RuleScales

    def x(self, field: str) -> alt.X:
        axis = self.data.span.axis("Γ over the blocks", most=5)
        return alt.X(f"{field}:Q", scale=self.data.span.scale, axis=axis)

    @property
    def y(self) -> alt.Y:
        count = len(self.data.seeds)
        names = [f"seed {seed}" for seed in reversed(self.data.seeds)]
        axis = alt.Axis(
            title=None,
            values=[row + HEIGHT / 2 for row in range(count)],
            labelExpr=f"{names}[floor(datum.value)]",
            ticks=False,
            grid=False,
            domain=False,
        )
        scale = alt.Scale(domain=[0, count], nice=False, zero=False)
        return alt.Y("bottom:Q", scale=scale, axis=axis)


def _draw_bars(drawing: _Drawing) -> alt.Chart:
    return layer_of("bars", "rect", opacity=1, fillOpacity=0.5).encode(
        x=drawing.x("low"),
        x2="high:Q",
        y=drawing.y,
        y2="top:Q",
        color=drawing.scales.colour,
        tooltip=SAYS,
    )


def _draw_observed(drawing: _Drawing) -> alt.Chart:
    return layer_of("observed", "rule", color=INK, strokeWidth=2.5, cursor="pointer").encode(
        x=drawing.x("value"), y=drawing.y, y2="top:Q", tooltip=SAYS
    )


LAYERS: tuple[tuple[str, Callable[[_Drawing], alt.Chart]], ...] = (
    ("bars", _draw_bars),
    ("observed", _draw_observed),
)
"""The layers from below to above: the name of the rows, and the function that draws them."""
