"""Print the tables of docs/verdict.md about used depth, from measured counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def print_tables(settings: Sequence[dict[str, Any]]) -> None:
    """Print all tables in Markdown."""
