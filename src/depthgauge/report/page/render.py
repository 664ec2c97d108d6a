"""The page: template, style, scripts and data put into one file."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import vl_convert as vlc
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from depthgauge.report.charts.colours import DARK, LIGHT, style_sheet
from depthgauge.report.charts.panel import VEGA_LITE
from depthgauge.report.writers.templates import render

SCRIPTS = (
    *("tools.js", "theme.js", "charts.js", "runs.js", "dialog.js", "copy.js", "save.js"),
    *("print.js", "start.js"),
)


def render_page(template: str, data: Any, context: Mapping[str, Any]) -> str:
    """Return the page as one HTML file.

    The page's content security policy allows only the page's own two scripts, by their hashes. An
    injected script cannot run, and nothing is loaded from elsewhere.
    """
    library, own = chart_library(), _joined(SCRIPTS)
    return render(
        f"page/{template}",
        **{"reword": str, **context},
        policy=_policy((library, own)),
        style=Markup(_style()),  # noqa: S704
        library=Markup(library),  # noqa: S704
        script=Markup(own),  # noqa: S704
        data=htmlsafe_json_dumps(data, dumps=_compact),
    )


@cache
def chart_library() -> str:
    """Return the library that draws charts, as a script."""
    return str(vlc.javascript_bundle("window.vegaEmbed = vegaEmbed;", VEGA_LITE))


def _compact(value: Any, **_: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def _policy(scripts: Sequence[str]) -> str:
    allowed = " ".join(f"'sha256-{_sha256(script)}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _sha256(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _style() -> str:
    """Return the style sheet, which defines the colours that charts name."""
    light, dark = style_sheet(LIGHT), style_sheet(DARK)
    return f":root {{ {light} }}\n:root[data-theme=dark] {{ {dark} }}\n{_text('page.css')}"


def _joined(names: Sequence[str]) -> str:
    """Return the scripts as one function, so that none of their names is global."""
    parts = "\n".join(_text(name) for name in names)
    return f"(() => {{\n'use strict';\n{parts}}})();"


@cache
def _text(name: str) -> str:
    return files("depthgauge.report.page").joinpath(name).read_text(encoding="utf-8")
