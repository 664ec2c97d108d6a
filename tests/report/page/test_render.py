"""One file, which allows its own two scripts and nothing else."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest
from jinja2 import UndefinedError
from plotly.offline import get_plotlyjs
from report.page.parsed_page import Page

from depthgauge.report.page import render
from depthgauge.report.page.render import SCRIPTS, render_page

HOSTILE = "</script><script>alert(1)</script><!-- <img src=x onerror=alert(1)> ' \" & \u2028"
COMPARED = {
    "version": "1",
    "names": ["a", "b"],
    "to": "bp",
    "studies": [],
    "rules": None,
    "no_rule": "none",
    "differences": [],
    "how_to_read": "",
    "own_thresholds": False,
    "panels": [],
}


@pytest.fixture
def context(monkeypatch):
    """What the shorter of the two pages needs."""
    monkeypatch.setattr(render, "get_plotlyjs", lambda: "window.charts = '✓';")
    table = type("Table", (), {"rows": []})
    return COMPARED | {"rules": table}


def rendered(context, data=None) -> Page:
    return Page(render_page("compared.html.j2", data or {}, context))


def test_the_policy_allows_the_two_scripts_that_are_there_and_nothing_from_elsewhere(context):
    page = rendered(context)
    (policy,) = (a["content"] for t, a in page.elements if a.get("http-equiv"))
    parts = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    hashes = [
        "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"
        for name, text in page.scripts.items()
        if name != "data"
    ]
    assert len(hashes) == 2
    assert parts["script-src"].split() == hashes
    assert parts["default-src"] == parts["base-uri"] == parts["form-action"] == "'none'"


def test_data_come_back_as_they_were(context):
    data = {HOSTILE: [1.5, None, True, HOSTILE, {"ü": "✓"}]}
    assert rendered(context, data).data == data


def test_data_cannot_end_their_script(context):
    page = rendered(context, {"label": HOSTILE})
    assert not re.search(r"[<>&]", page.scripts["data"])
    assert page.skeleton == rendered(context).skeleton


def test_numbers_that_json_does_not_have_are_refused(context):
    with pytest.raises(ValueError, match="JSON"):
        rendered(context, {"growth": float("inf")})


def test_texts_are_escaped(context):
    page = rendered(context | {"names": [HOSTILE, "b"], "to": HOSTILE, "how_to_read": HOSTILE})
    assert page.skeleton == rendered(context).skeleton
    assert page.text.count(" ".join(HOSTILE.split())) == 3


def test_a_name_that_a_template_is_not_given_is_an_error(context):
    del context["to"]
    with pytest.raises(UndefinedError):
        rendered(context)


def test_every_script_is_there_once(context):
    own = list(rendered(context).scripts.values())[-1]
    for name in SCRIPTS:
        text = render._text(name)
        assert own.count(text) == 1
    assert own.startswith("(() => {")
    assert "'use strict';" in own


def test_the_chart_library_is_a_script_of_its_own_with_its_licence():
    library = render.chart_library()
    assert library.startswith("/**\n* plotly.js v")
    assert "MIT license\n*/" in library[:300]
    assert library.count(render.BEGIN) == 1
    assert render.END not in library
    assert len(library) > 0.99 * len(get_plotlyjs())


def test_a_chart_library_in_another_wrapper_stays_in_it(monkeypatch):
    for whole in ("(function () { charts })();", f"{render.BEGIN}charts", f"charts;{render.END}"):
        monkeypatch.setattr(render, "get_plotlyjs", lambda whole=whole: whole)
        assert render.chart_library() == whole
