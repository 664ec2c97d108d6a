"""The data of charts, packed column by column and unpacked again as the page does."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.report.charts.panel import Panel, layer_of
from depthgauge.report.page.chart_data import chart_data, columns


def unpacked(packed: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows, slowly, from what a browser reads."""
    found = json.loads(json.dumps(packed, allow_nan=False))
    values = {
        name: column
        if isinstance(column, list)
        else [value for value, count in column["runs"] for _ in range(count)]
        for name, column in found.items()
    }
    (count,) = {len(column) for column in values.values()}
    return [{name: column[row] for name, column in values.items()} for row in range(count)]


VALUES = st.none() | st.booleans() | st.text() | st.integers(-9999, 9999)
ROWS = st.lists(st.fixed_dictionaries({"a": VALUES, "b": st.lists(VALUES)}), min_size=1)


@given(ROWS)
def test_rows_come_back_as_they_were(rows):
    assert unpacked(columns(rows)) == rows


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers_come_back_with_four_significant_digits(numbers):
    for row, number in zip(unpacked(columns([{"a": n} for n in numbers])), numbers, strict=True):
        assert row["a"] == pytest.approx(number, rel=5.1e-4, abs=5e-324)


def test_numbers_in_lists_are_rounded_too():
    row = {"a": [1 / 3, None, [2 / 3]]}
    assert columns([row]) == {"a": [[0.3333, None, [0.6667]]]}


def test_equal_values_are_counted_where_that_is_shorter():
    assert columns([{"a": "x"}] * 5) == {"a": {"runs": [("x", 5)]}}
    assert columns([{"a": value} for value in "xxyy"]) == {"a": ["x", "x", "y", "y"]}


@dataclass(frozen=True)
class Row:
    rule: str
    value: float


def test_each_chart_names_its_rows_and_what_is_not_finite_is_null():
    rows = [Row("bp", 1.0), Row("bp", math.inf), Row("bp", math.nan)]
    panels = [
        Panel(id, id, id, [layer_of("points", "point")], {"points": rows}) for id in ("one", "two")
    ]
    data = json.loads(json.dumps(chart_data(panels), allow_nan=False))
    assert {id: chart["rows"] for id, chart in data["charts"].items()} == {
        "one": ["one:points"],
        "two": ["two:points"],
    }
    assert data["rows"]["one:points"]["value"] == [1, None, None]
    for chart in data["charts"].values():
        assert "datasets" not in chart["spec"]
        assert [layer["data"]["name"] for layer in chart["spec"]["layer"]] == chart["rows"]
