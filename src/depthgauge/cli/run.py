"""`depthgauge run FILE`: train the study that a file describes.

`depthgauge schema`: print the JSON schema of study files.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from depthgauge.cli.output import add_output_options, print_json, show_plan, show_study


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add the options of `run`."""
    parser.add_argument("file", metavar="FILE", help="the study file")
    parser.add_argument(
        "--out", metavar="DIR", help="folder of the study, instead of the folder in the file"
    )
    add_output_options(parser, kind="audit")
    parser.set_defaults(run=_run)


def add_schema(parser: argparse.ArgumentParser) -> None:
    """Set the function that `schema` runs; the command has no options."""
    parser.set_defaults(run=_run_schema)


def _run(args: argparse.Namespace) -> int:
    """Run the command that a study file names, with the options in the file."""
    from depthgauge.api import audit, ladder
    from depthgauge.study_file import read_study_file

    file = read_study_file(Path(args.file))
    with file.placed_errors():
        config = file.config.changed(out=args.out) if args.out else file.config
        if args.dry_run:
            return show_plan(file.command, config, as_json=args.json)
        study = audit(config) if file.command == "audit" else ladder(config)
    return show_study(
        study, file.command, as_json=args.json, strict=config.strict, verbose=args.verbose
    )


def _run_schema(args: argparse.Namespace) -> int:
    """Print the JSON schema of study files."""
    from depthgauge.study_file import study_file_schema

    print_json(study_file_schema())
    return 0
