"""`depthgauge tasks`: what tasks there are."""

from __future__ import annotations

import argparse

from depthgauge.cli.lists import add_options, show_list
from depthgauge.registry import TASKS

__all__ = ["add_options", "run"]


def run(args: argparse.Namespace) -> int:
    """Print the list."""
    return show_list(TASKS, as_json=args.json, described=_described)


def _described(name: str) -> dict[str, object]:
    task, _ = TASKS.find(name)
    return {"name": name, "summary": task.summary, "epochs": task.epochs, "width": task.width}
