"""The console on standard output, for tables and sentences."""

from __future__ import annotations

import os
import sys

from rich.console import Console

WIDTH_OF_A_LOG = 160


class _Output(Console):
    """A console that raises BrokenPipeError to its caller, who may have work left."""

    def on_broken_pipe(self) -> None:
        raise  # noqa: PLE0704


def output() -> Console:
    """Return a console as wide as the terminal; in a pipe or a log, wide enough for every table.

    The environment variable COLUMNS sets another width.
    """
    has_width = sys.stdout.isatty() or "COLUMNS" in os.environ
    return _Output(highlight=False, width=None if has_width else WIDTH_OF_A_LOG)
