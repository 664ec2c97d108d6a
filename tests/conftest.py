"""Settings for the whole suite."""

from __future__ import annotations

import pytest
from hypothesis import settings

# No example database: a test run leaves nothing behind. No deadline: machines may be busy.
settings.register_profile("depthgauge", database=None, deadline=None)
settings.load_profile("depthgauge")


def pytest_configure(config: pytest.Config) -> None:
    """A failure shows its local variables: which row it was, where a test walks a table."""
    config.option.showlocals = True
