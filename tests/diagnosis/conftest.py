"""What several tests of diagnosis look at."""

from __future__ import annotations

import pytest
from diagnosis.example_reports import full_report

from depthgauge import Report


@pytest.fixture
def full() -> Report:
    """A report with everything in it."""
    return full_report()
