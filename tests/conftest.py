"""Settings for the whole suite."""

from __future__ import annotations

import pytest
from hypothesis import settings

from depthgauge.errors import UserError
from depthgauge.tasks.base import Task
from depthgauge.tasks.registry import load_task

# No example database: a test run leaves nothing behind. No deadline: machines may be busy.
settings.register_profile("depthgauge", database=None, deadline=None)
settings.load_profile("depthgauge")


def pytest_configure(config: pytest.Config) -> None:
    """A failure shows its local variables: which row it was, where a test walks a table."""
    config.option.showlocals = True


@pytest.fixture(scope="session")
def cifar10() -> Task:
    """The real CIFAR-10; a test that takes it is skipped if it was not fetched."""
    try:
        return load_task("cifar10")
    except UserError as missing:
        pytest.skip(str(missing))
