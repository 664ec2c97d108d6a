"""The page: template, style, scripts and data put into one file."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from depthgauge.report.writers.templates import render

SCRIPTS = (
    *("data.js", "theme.js", "chart.js", "rules.js", "ladder.js", "audit.js", "layers.js"),
    *(
        "training.js",
        "null.js",
        "runs.js",
        "dialog.js",
        "copy.js",
        "save.js",
        "print.js",
        "start.js",
    ),
)

BEGIN, END = '"use strict";var Plotly=', "window.Plotly = Plotly;"
"""What the library is between."""


def render_page(template: str, data: Any, context: Mapping[str, Any]) -> str:
    """One HTML file.

    A policy in its head allows the two scripts in it, by their hashes, and nothing from anywhere
    else: what slipped in could not run.
    """
    library, own = chart_library(), _joined(SCRIPTS)
    return render(
        f"page/{template}",
        **context,
        policy=_policy((library, own)),
        style=Markup(_text("page.css")),  # noqa: S704
        library=Markup(library),  # noqa: S704
        script=Markup(own),  # noqa: S704
        data=htmlsafe_json_dumps(data, dumps=_compact),
    )


def chart_library() -> str:
    """Plotly as a script of its own.

    Its package wraps it in a function for other ways of loading it, and a browser reads through
    the whole of that once more before it runs it. A wrapper that is not the known one stays.
    """
    whole = get_plotlyjs()
    notice, begun, rest = whole.partition(BEGIN)
    inside, ended, _ = rest.rpartition(END)
    licence = notice[: notice.find("*/") + 2]
    return f"{licence}\n{begun}{inside}" if begun and ended else whole


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


def _joined(names: Sequence[str]) -> str:
    """The scripts as one, none of whose names can be seen from outside."""
    parts = "\n".join(_text(name) for name in names)
    return f"(() => {{\n'use strict';\n{parts}}})();"


@cache
def _text(name: str) -> str:
    return files("depthgauge.report.page").joinpath(name).read_text(encoding="utf-8")
