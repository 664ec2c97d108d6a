"""How each rule is drawn: its colour, marker and dashes, the same in every chart.

Markers and dashes differ as well as colours, so that no reader needs to tell colours apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from depthgauge.report.charts.colours import RULES, rule_colour

SIGNS: Mapping[str, str] = {
    "circle": "M0-1A1 1 0 1 1 0 1A1 1 0 1 1 0-1Z",
    "square": "M-.9-.9H.9V.9H-.9Z",
    "diamond": "M0-1.2L1.2 0L0 1.2L-1.2 0Z",
    "triangle-up": "M0-1L1.1.9H-1.1Z",
    "triangle-down": "M0 1L1.1-.9H-1.1Z",
    "cross": "M-.4-1.2H.4V-.4H1.2V.4H.4V1.2H-.4V.4H-1.2V-.4H-.4Z",
    "x": "M-1-.5L-.5-1L0-.5L.5-1L1-.5L.5 0L1 .5L.5 1L0 .5L-.5 1L-1 .5L-.5 0Z",
}
"""Outlines of the markers, about 2 wide and 2 high around their middle."""

DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (7, 3), (2, 2), (7, 3, 2, 3))

KNOWN = ("bp", "fa", "dfa", "ep", "state_bridge", "credit_bridge", "drtp")
"""Rules that look the same in every study."""


@dataclass(frozen=True)
class RuleStyle:
    """How a rule is drawn: the name of its colour, the name of its marker, and its dashes."""

    colour: str
    sign: str
    dash: tuple[int, ...]

    @property
    def outline(self) -> str:
        """The outline of the marker as a path."""
        return SIGNS[self.sign]


def rule_styles(labels: Sequence[str]) -> dict[str, RuleStyle]:
    """Return a style for each label; no two of the first 28 share both colour and dashes."""
    own = {label: KNOWN.index(label) for label in labels if label in KNOWN}
    free = (number for number in range(len(labels) + len(KNOWN)) if number not in own.values())
    return {label: _style(own[label] if label in own else next(free)) for label in labels}


def _style(number: int) -> RuleStyle:
    rounds, colour = divmod(number, RULES)
    sign = list(SIGNS)[(colour + rounds) % len(SIGNS)]
    return RuleStyle(rule_colour(colour), sign, DASHES[rounds % len(DASHES)])


class RuleScales:
    """The styles of rules as Vega-Lite scales, which read the field `rule` of a chart's rows."""

    def __init__(self, labels: Sequence[str], in_legend: Sequence[str] = ()) -> None:
        """Give each label a style; the labels `in_legend` get an entry in the legend."""
        self.styles = rule_styles(list(dict.fromkeys(labels)))
        entries = [label for label in self.styles if label in in_legend]
        self._facts: dict[str, Any] = {"title": None, "legend": None}
        if entries:
            self._facts["legend"] = alt.Legend(values=entries, symbolOpacity=1)

    @property
    def colour(self) -> alt.Color:
        """The colour of fills, texts and lines."""
        return alt.Color("rule:N", scale=self._colours, **self._facts)

    @property
    def fill(self) -> alt.Fill:
        """The colour of the inside of a marker."""
        return alt.Fill("rule:N", scale=self._colours, **self._facts)

    @property
    def stroke(self) -> alt.Stroke:
        """The colour of the outlines of markers."""
        return alt.Stroke("rule:N", scale=self._colours, **self._facts)

    @property
    def shape(self) -> alt.Shape:
        """The marker of a point."""
        scale = self._scale([style.outline for style in self.styles.values()])
        return alt.Shape("rule:N", scale=scale, **self._facts)

    @property
    def dash(self) -> alt.StrokeDash:
        """The dashes of a line."""
        scale = self._scale([list(style.dash) for style in self.styles.values()])
        return alt.StrokeDash("rule:N", scale=scale, **self._facts)

    @property
    def _colours(self) -> alt.Scale:
        return self._scale([style.colour for style in self.styles.values()])

    def _scale(self, values: Sequence[Any]) -> alt.Scale:
        return alt.Scale(domain=list(self.styles), range=list(values))
