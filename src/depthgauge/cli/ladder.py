"""`depthgauge ladder`: train the last k blocks for k = 0 … L, and see whether depth is used."""

from __future__ import annotations

import argparse

from depthgauge.cli.arguments import add_study_options, config_of
from depthgauge.cli.study_output import add_output_options, lost_runs, show_plan, show_study
from depthgauge.study_config import AUDIT_ONLY

DESCRIPTION = (
    "Train the last k blocks, keep the others at initialisation: accuracy over k shows whether a "
    "rule uses depth. The same command continues where it stopped."
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `ladder`."""
    add_study_options(parser, without=AUDIT_ONLY)
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Train what is left of the ladder, and print it."""
    from depthgauge.api import ladder

    config = config_of(args)
    if args.dry_run:
        return show_plan("ladder", config, as_json=args.json)
    study = ladder(config)
    show_study(study, "ladder", as_json=args.json)
    return int(lost_runs(study))
