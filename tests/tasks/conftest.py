"""A cache of data sets of the test's own."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder that is the cache of all data sets."""
    monkeypatch.setenv("DEPTHGAUGE_DATA", str(tmp_path / "cache"))
    return tmp_path / "cache"
