"""Pages that take a moment to write."""

from __future__ import annotations

from typing import Any

from depthgauge.report.page import render, study_page


def light(monkeypatch: Any) -> None:
    """Pages without the chart library and the figures: the rest of the page takes a moment."""
    monkeypatch.setattr(render, "get_plotlyjs", lambda: "/* charts */")
    monkeypatch.setattr(study_page, "figures_of", lambda *_: {"ladder": None})
    monkeypatch.setattr(study_page, "one_pdf", lambda figures: b"%PDF")
