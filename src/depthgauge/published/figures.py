"""Published figures that come with the package."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def published() -> dict[str, Any]:
    """Return all published figures."""
    text = files("depthgauge.published").joinpath("figures.json").read_text(encoding="utf-8")
    figures: dict[str, Any] = json.loads(text)
    return figures
