"""`depthgauge run FILE` and `depthgauge schema`: studies that are written in a file."""

from __future__ import annotations

import argparse
import json
from pathlib import Path


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `run` and `schema` to the command line."""
    run = subparsers.add_parser(
        "run", help="the study that a .toml or .yaml file describes (`depthgauge schema`)"
    )
    run.add_argument("file", metavar="FILE", help="the study file")
    run.add_argument("--out", help="folder of the study, instead of the one in the file")
    run.add_argument("--dry-run", action="store_true", help="show the runs, train nothing")
    run.add_argument("--json", action="store_true", help="print one JSON document")
    run.set_defaults(run=run_file)
    schema = subparsers.add_parser("schema", help="the JSON schema of study files")
    schema.set_defaults(run=print_schema)


def run_file(args: argparse.Namespace) -> int:
    """As if what is in the file had been typed."""
    from depthgauge.cli.main import build_parser
    from depthgauge.studies.study_file import read_study_file

    spec = read_study_file(Path(args.file))
    arguments = spec.arguments()
    arguments += ["--out", args.out] if args.out else []
    arguments += [f"--{name}" for name in ("dry-run", "json") if vars(args)[name.replace("-", "_")]]
    typed = build_parser().parse_args(arguments)
    status: int = typed.run(typed)
    return status


def print_schema(args: argparse.Namespace) -> int:
    """On standard output."""
    from depthgauge.studies.study_spec import StudySpec

    print(json.dumps(StudySpec.model_json_schema(), indent=2, ensure_ascii=False))
    return 0
