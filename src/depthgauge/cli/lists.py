"""What `rules`, `nets` and `tasks` have in common: a list, without waiting for torch."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

from depthgauge.errors import UserError
from depthgauge.registry import Kind

COLUMN = 14


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add `--json`."""
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def show_list(
    kind: Kind[Any],
    *,
    as_json: bool,
    described: Callable[[str], object],
    beside: Callable[[str], str] | None = None,
) -> int:
    """Print what there is of a kind as one JSON document, or each by its name and summary.

    What `beside` says of one stands in a line of its own.
    """
    if as_json:
        print(json.dumps([described(name) for name in _loadable(kind)], indent=2))
        return 0
    for name in _loadable(kind):
        print(f"{name:{COLUMN}} {kind.summary(name)}")
        if beside is not None:
            print(f"{'':{COLUMN}} {beside(name)}")
    return 0


def _loadable(kind: Kind[Any]) -> Iterator[str]:
    """Yield all names; an installed one is loaded, and named on standard error if that fails."""
    for name in kind.names:
        try:
            kind.summary(name)
        except UserError as error:
            print(f"depthgauge: {error}", file=sys.stderr)
        else:
            yield name
