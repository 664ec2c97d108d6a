"""`depthgauge reproduce NAME`: repeat an experiment, and compare it with its published figures."""

from __future__ import annotations

import argparse

from depthgauge.cli.arguments import add_study_options, config_of
from depthgauge.cli.output import Kind, add_output_options, show_plan, show_study
from depthgauge.study_config import AUDIT_ONLY

NAMES = ("memo-ladder", "main-audit", "thirty-epochs")


def add_reproduce(parser: argparse.ArgumentParser) -> None:
    """Add the options of `reproduce`."""
    parser.description = (
        "Repeat a published experiment on CIFAR-10 and compare the results with the published "
        "figures: memo-ladder (--width 256 --depth 4, or --width 512 --depth 2), main-audit or "
        "thirty-epochs (--width 256 --depth 4)."
    )
    parser.add_argument("experiment", metavar="NAME", choices=NAMES, help=", ".join(NAMES))
    add_study_options(parser, without={*AUDIT_ONLY, "task"})
    add_output_options(parser, kind="audit")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    """Train the remaining runs of the published experiment, and print the comparison."""
    from depthgauge.api import reproduce
    from depthgauge.published.experiments import find_experiment
    from depthgauge.scheduling.grid import net_of

    config, experiment = config_of(args), find_experiment(args.experiment)
    kind: Kind = "audit" if experiment.audits else "ladder"
    if args.dry_run:
        planned = experiment.configure(config)
        experiment.check(net_of(planned))
        return show_plan(kind, planned, as_json=args.json)
    done = reproduce(args.experiment, config)
    return show_study(
        done.study, kind, as_json=args.json, verbose=args.verbose, comparison=done.comparison
    )
