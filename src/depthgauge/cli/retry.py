"""`depthgauge retry --failed`: train the runs of a study that failed once more."""

from __future__ import annotations

import argparse

from depthgauge.cli.arguments import config_of
from depthgauge.cli.resume import add_common_options, show_counts
from depthgauge.errors import UserError


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `retry`."""
    add_common_options(parser)
    parser.add_argument("--failed", action="store_true", help="the runs that raised an error")


def run(args: argparse.Namespace) -> int:
    """Train failed runs again."""
    from depthgauge.api import retry

    if not args.failed:
        raise UserError("say what to retry: --failed")
    return show_counts(retry(args.study, config_of(args)))
