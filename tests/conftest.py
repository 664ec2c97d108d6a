"""Settings for the whole suite."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

# No example database: a test run leaves nothing behind. No deadline: machines may be busy.
settings.register_profile("depthgauge", database=None, deadline=None)
settings.load_profile("depthgauge")


def pytest_configure(config: pytest.Config) -> None:
    """A failure shows its local variables: which row it was, where a test walks a table."""
    config.option.showlocals = True


@pytest.fixture(autouse=True, scope="session")
def figures_for_print() -> Iterator[Any]:
    """Pages that commands write in this process come without the PDF of figures.

    It takes twenty times as long as the rest of a page. Tests of it ask for this fixture, which is
    the function that draws them, and commands run as processes of their own draw it as ever.
    """
    from depthgauge.report.page import study_page  # noqa: PLC0415

    real = study_page.figures_of
    with pytest.MonkeyPatch.context() as without:
        without.setattr(study_page, "figures_of", lambda *_: {})
        yield real
