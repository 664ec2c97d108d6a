"""One file, which allows its own two scripts and nothing else."""

from __future__ import annotations

import base64
import hashlib
import re
from importlib.resources import files

import pytest
from jinja2 import UndefinedError
from report.page.parsed_page import Page

from depthgauge.report.charts.colours import DARK, LIGHT
from depthgauge.report.page.charts import PageCharts
from depthgauge.report.page.render import SCRIPTS, chart_library, render_page

HOSTILE = "</script><script>alert(1)</script><!-- <img src=x onerror=alert(1)> ' \" & \u2028"


@pytest.fixture
def context():
    """What the shorter of the two pages needs."""
    return {
        "version": "1",
        "names": ["a", "b"],
        "to": "bp",
        "studies": [],
        "rules": type("Table", (), {"rows": []}),
        "no_rule": "none",
        "differences": [],
        "how_to_read": "",
        "own_thresholds": False,
        "charts": PageCharts(styles={}, ladder=[], audit=[]),
    }


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
        text = files("depthgauge.report.page").joinpath(name).read_text(encoding="utf-8")
        assert own.count(text) == 1
    assert own.startswith("(() => {")
    assert "'use strict';" in own


def test_the_chart_library_is_a_script_of_its_own_and_the_same_every_time(context):
    """It is in every page: it must neither end its script element nor change its hash."""
    library = chart_library()
    assert list(rendered(context).scripts.values())[1] == library
    assert "</script" not in library.lower()
    assert "window.vegaEmbed" in library
    assert len(library) < 1.5e6
    chart_library.cache_clear()
    assert chart_library() == library


def test_the_library_asks_nobody_for_anything(context):
    """With the policy, an address in it could not be reached: it would only be a complaint."""
    assert not re.search(r"import\s*\(?\s*['\"]https?:", chart_library())


def test_the_style_sheet_has_every_colour_on_light_and_on_dark_paper(context):
    (style, *_) = re.findall(r"<style>(.*?)</style>", rendered(context).html, re.S)
    light, dark = (
        re.search(rf"{root} {{(.*?)}}", style)[1] for root in (":root", r"\[data-theme=dark\]")
    )
    for declared, colours in ((light, LIGHT), (dark, DARK)):
        assert all(f"--{name}: {colour};" in declared for name, colour in colours.items())
