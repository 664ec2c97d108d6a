"""All figures together: of whole studies, of parts, and with names that are not made for them."""

from __future__ import annotations

import json
import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Any

import pytest
from report.studies import make_audit, make_network, make_null, make_run, make_study, trained_study

from depthgauge.report.charts.figures import FIGURES
from depthgauge.report.charts.panel import Figure
from depthgauge.results.study import StudyResult

HOSTILE = [
    *("bp", "$x_1$ <b>", "_a", "ep[credit=displacement,nudge=10.0]", "a\nb", "]]>", " ", "'\"\\"),
    *("<script>alert(1)</script>", "datum.rule", "W" * 90),
]


def whole_study(*rules: str, **read: Any) -> StudyResult:
    """Rules with a ladder and an audit that read everything."""
    runs = [make_run(rule, k=k, accuracy=0.3 + k / 10) for rule in rules for k in (0, 1, 2)]
    every = {"gamma": (0.9, None, 0.7), "rho": (0.8, 0.6, -0.1), "null": make_null()} | read
    networks = [
        make_network(run.label, run=run.identity, **every) for run in runs if run.config.is_full
    ]
    return make_study(*runs, audit=make_audit(*networks))


def known(study: StudyResult) -> list[str]:
    return [name for name, figure in FIGURES.items() if figure.reason_missing(study) is None]


def numbers(value: Any) -> Iterator[float]:
    """Return all numbers in a row of data."""
    if isinstance(value, list):
        for part in value:
            yield from numbers(part)
    elif isinstance(value, float):
        yield value


def assert_can_be_drawn(figure: Figure) -> None:
    """The data are JSON, and none is without a place on a logarithmic axis."""
    json.dumps(figure.drawing, allow_nan=False)
    for panel in figure.panels:
        rows = panel.datasets()
        for layer in panel.specification()["layer"]:
            for channel in ("x", "y"):
                encoded = layer["encoding"].get(channel, {})
                if encoded.get("scale", {}).get("type") != "log":
                    continue
                assert encoded["scale"]["domain"][0] > 0
                for row in rows[layer["data"]["name"]]:
                    shown = row.get(encoded["field"], row.get("values"))
                    assert all(number > 0 for number in numbers(shown))


def test_every_figure_that_a_study_has_data_for():
    study = whole_study("bp", "dfa")
    assert known(study) == ["ladder", "audit", "layers", "training", "null"] == list(FIGURES)
    for figure in FIGURES.values():
        assert ET.fromstring(figure.draw(study).file("svg")).tag.endswith("svg")


def test_figures_without_data_say_what_is_missing():
    assert known(make_study(make_run(k=0))) == ["ladder"]
    assert known(make_study()) == []
    for figure in FIGURES.values():
        assert (figure.reason_missing(make_study()) or "").startswith("has no")


@pytest.mark.parametrize("name", FIGURES)
def test_names_that_are_not_made_for_figures(name):
    """They are texts of the drawing, and nothing else of it changes."""
    tags = []
    for rules in (HOSTILE, [f"rule {n}" for n in range(len(HOSTILE))]):
        figure = FIGURES[name].draw(whole_study(*rules))
        text = figure.file("svg").decode()
        assert "<script" not in text
        tags.append({element.tag for element in ET.fromstring(text).iter()})
    assert tags[0] == tags[1]


@pytest.mark.parametrize("name", FIGURES)
def test_no_figure_changes_what_it_draws_from(name):
    study = whole_study("bp")
    FIGURES[name].draw(study)
    assert whole_study("bp") == study


@pytest.mark.parametrize(
    "read",
    [
        {},
        {"growth": math.inf, "norms": (1.0, 0.0, math.inf)},
        {"gradient": 0.0, "gradients": (0.0, None, 0.0)},
        {"growth": None, "stability": None, "gamma": (None,) * 3, "rho": (math.nan,) * 3},
        {"null": make_null([0.1] * 9, None), "gamma": (0.1, math.nan, None)},
        {"accuracy": None},
    ],
    ids=str,
)
def test_readings_without_a_place_spoil_no_figure(read):
    study = whole_study("bp", "dfa", **read)
    for name in known(study):
        figure = FIGURES[name].draw(study)
        assert_can_be_drawn(figure)
        assert ET.fromstring(figure.file("svg")).tag.endswith("svg")


def test_a_study_in_progress_with_twins_can_be_drawn():
    study = trained_study()
    running = make_run("fa", state="running", lines=[])
    for name in known(study):
        assert_can_be_drawn(FIGURES[name].draw(make_study(*study.runs, running)))
