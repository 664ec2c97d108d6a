"""`depthgauge ladder`: train the last k blocks for k = 0 … L, and print the accuracies."""

from __future__ import annotations

import argparse

from depthgauge.cli.arguments import add_study_options, config_of
from depthgauge.cli.output import add_output_options, show_plan, show_study
from depthgauge.study_config import AUDIT_ONLY


def add_ladder(parser: argparse.ArgumentParser) -> None:
    """Add the options of `ladder`."""
    parser.description = (
        "Train the last k blocks for every k, with the other blocks at initialisation. Accuracy "
        "over k shows whether a rule uses depth. If the command was stopped, the same command "
        "continues it."
    )
    add_study_options(parser, without=AUDIT_ONLY)
    add_output_options(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    """Train the remaining runs of a ladder, and print the ladder."""
    from depthgauge.api import ladder

    config = config_of(args)
    if args.dry_run:
        return show_plan("ladder", config, as_json=args.json)
    return show_study(ladder(config), "ladder", as_json=args.json)
