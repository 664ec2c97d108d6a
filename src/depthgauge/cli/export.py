"""`depthgauge export`: write all runs and epochs of a study as one table."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from depthgauge.errors import UserError
from depthgauge.number_format import counted

FORMATS = ("csv", "parquet")


def add_export(parser: argparse.ArgumentParser) -> None:
    """Add the options of `export`."""
    parser.add_argument("study", metavar="DIR", help="folder of a study")
    parser.add_argument(
        "--format",
        choices=FORMATS,
        help="format of the table (by the ending of the output's name, else csv)",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="the table (runs.csv or runs.parquet in DIR)"
    )
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    """Write the table and print its path."""
    from depthgauge.results.export import runs_with_lost_epochs, write_epochs
    from depthgauge.results.load import load

    study = load(args.study)
    ending = Path(args.output).suffix[1:] if args.output else ""
    kind = args.format or (ending if ending in FORMATS else "csv")
    output = Path(args.output) if args.output else study.folder / f"runs.{kind}"
    try:
        write_epochs(study, output, kind)
    except ImportError as error:
        raise UserError(
            "--format parquet needs pyarrow: pip install 'depthgauge[parquet]'"
        ) from error
    if lost := runs_with_lost_epochs(study):
        print(
            f"depthgauge: the table lacks epochs of {counted(len(lost), 'finished run')}, whose "
            f"metrics are incomplete; the first is runs/{lost[0]}",
            file=sys.stderr,
        )
    print(output)
    return 0
