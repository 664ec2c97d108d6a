"""Standard output for eyes."""

from __future__ import annotations

import sys

from rich.console import Console

WIDTH_OF_A_LOG = 160


def output() -> Console:
    """As wide as the terminal; in a pipe or a log wide enough for every table."""
    width = None if sys.stdout.isatty() else WIDTH_OF_A_LOG
    return Console(highlight=False, width=width)
