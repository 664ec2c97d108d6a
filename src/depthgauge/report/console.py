"""Standard output for eyes."""

from __future__ import annotations

import sys

from rich.console import Console

WIDTH_OF_A_LOG = 160


class _Output(Console):
    """Leaves a pipe that was closed to those who called, who may have something left to do."""

    def on_broken_pipe(self) -> None:
        raise  # noqa: PLE0704


def output() -> Console:
    """As wide as the terminal; in a pipe or a log wide enough for every table."""
    width = None if sys.stdout.isatty() else WIDTH_OF_A_LOG
    return _Output(highlight=False, width=width)
