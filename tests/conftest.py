"""Settings for the whole suite."""

from __future__ import annotations

from hypothesis import settings

# No example database: a test run leaves nothing behind. No deadline: machines may be busy.
settings.register_profile("depthgauge", database=None, deadline=None)
settings.load_profile("depthgauge")
