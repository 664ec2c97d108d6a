"""`depthgauge run FILE`: the study that a file describes."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `run`."""
    from depthgauge.cli.study_output import add_output_options

    parser.add_argument("file", metavar="FILE", help="the study file")
    parser.add_argument(
        "--out", metavar="DIR", help="folder of the study, instead of the one in the file"
    )
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Do what the file says, as its command would."""
    from depthgauge.api import audit, ladder
    from depthgauge.cli.audit import strict_status
    from depthgauge.cli.study_output import lost_runs, show_plan, show_study
    from depthgauge.study_file import read_study_file

    file = read_study_file(Path(args.file))
    with file.placed_errors():
        config = file.config.changed(out=args.out) if args.out else file.config
        if args.dry_run:
            return show_plan(file.command, config, as_json=args.json)
        study = audit(config) if file.command == "audit" else ladder(config)
    show_study(study, file.command, as_json=args.json)
    words = [rule.verdict.word for rule in study.rules.values()]
    return 1 if lost_runs(study) else strict_status(words, config.strict)
