"""`depthgauge nets`: what networks there are."""

from __future__ import annotations

import argparse

from depthgauge.cli.lists import add_options, show_list
from depthgauge.registry import NETS

__all__ = ["add_options", "run"]


def run(args: argparse.Namespace) -> int:
    """Print the list."""
    return show_list(NETS, as_json=args.json, described=_described)


def _described(name: str) -> dict[str, object]:
    return {"name": name, "summary": NETS.summary(name)}
