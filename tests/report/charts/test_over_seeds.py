"""Means over seeds that the chart computes, held to Python's own."""

from __future__ import annotations

import math
import random
import statistics
from dataclasses import dataclass

import altair as alt
import pytest
from report.charts.drawn import marks

from depthgauge.report.charts.axes import Span
from depthgauge.report.charts.over_seeds import mean_over_seeds
from depthgauge.report.charts.panel import Panel, layer_of


@dataclass(frozen=True)
class Row:
    rule: str
    epoch: int
    value: float | None
    run: str


def chart(rows: list[Row], span: Span) -> Panel:
    layer = mean_over_seeds(layer_of("rows", "point"), "epoch", "'epoch ' + datum.epoch", span.log)
    x = alt.X("epoch:Q", scale=alt.Scale(domain=[0, 9], nice=False))
    drawn = layer.encode(x=x, y=alt.Y("mean:Q", scale=span.scale), tooltip="says:N")
    return Panel("some", "Some", "some", [drawn], {"rows": rows})


@pytest.mark.parametrize("log", [False, True])
def test_means_are_those_of_the_values_that_have_a_place(log):
    """Of any values from 1e-6 to 1e6, of which some are missing and some are zero or below."""
    numbers = random.Random(3)
    rows = [
        Row(rule, epoch, value, f"run {seed}")
        for rule in ("bp", "<b>'\"\\")
        for epoch in range(10)
        for seed in range(5)
        for value in (numbers.choice([None, 0.0, -1.0, *(10 ** numbers.uniform(-6, 6),) * 3]),)
    ]
    mean = statistics.geometric_mean if log else statistics.fmean
    expected = {}
    for rule, epoch in dict.fromkeys((row.rule, row.epoch) for row in rows):
        there = [
            r.value for r in rows if (r.rule, r.epoch) == (rule, epoch) and r.value is not None
        ]
        known = [value for value in there if value > 0 or not log]
        if known:
            expected[rule, epoch] = mean(known), len(known)
    assert len(expected) == 20
    span = Span(-6.0, 6.0, log=True) if log else Span(-1e6, 1e6)
    found = marks(chart(rows, span))
    assert len(found) == len(expected)
    for (rule, epoch), (value, count) in expected.items():
        start = f"{rule}, epoch {epoch}: "
        (mark,) = (mark for mark in found if mark.says.startswith(start))
        assert mark.points[0][0] == pytest.approx(epoch)
        if log:
            assert math.log(mark.points[0][1]) == pytest.approx(math.log(value), abs=1e-6)
        else:
            assert mark.points[0][1] == pytest.approx(value, abs=1e-2)
        assert mark.says.endswith(f", mean of {count} seeds") is (count > 1)
        assert (mark.run is not None) is (count == 1)


def test_a_mean_of_one_seed_leads_to_its_run():
    rows = [Row("bp", 0, 0.5, "b"), Row("bp", 0, None, "a"), Row("bp", 1, 0.5, "a")]
    assert [mark.run for mark in marks(chart(rows, Span(0.0, 1.0)))] == ["b", "a"]
