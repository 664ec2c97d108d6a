"""Fill the templates of tables and pages."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape


def render(template: str, /, **context: Any) -> str:
    """Return a template of the folder `report`, filled with the values in `context`.

    In pages all values are escaped. A name that the template uses and `context` lacks is an error.
    """
    environment = _latex_environment() if template.endswith(".tex.j2") else _environment()
    return environment.get_template(template).render(**context)


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("depthgauge", "report"),
        autoescape=select_autoescape(["html.j2"], default=False),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


@cache
def _latex_environment() -> Environment:
    """Return the environment of LaTeX templates, in which braces are plain text."""
    return _environment().overlay(
        variable_start_string="<<",
        variable_end_string=">>",
        block_start_string="<%",
        block_end_string="%>",
        comment_start_string="<#",
        comment_end_string="#>",
    )
