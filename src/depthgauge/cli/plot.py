"""`depthgauge plot`: figures from finished studies, without training anything."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `plot` and the figures it draws."""
    parser = subparsers.add_parser("plot", help="figures from finished studies")
    figures = parser.add_subparsers(metavar="FIGURE", required=True)
    ladder = figures.add_parser("ladder", help="several ladders side by side, one panel each")
    ladder.add_argument("ladders", nargs="+", metavar="DIR", help="folders or ladder.json files")
    ladder.add_argument(
        "-o", "--output", default="ladders.png", metavar="FILE", help=".png, .svg or .pdf"
    )
    ladder.set_defaults(run=run_ladder)


def run_ladder(args: argparse.Namespace) -> int:
    """Draw the ladders into one figure."""
    from depthgauge.errors import UserError
    from depthgauge.report.ladder_figure import SUFFIXES, draw_ladders
    from depthgauge.studies.ladder import read_ladder

    output = Path(args.output)
    if output.suffix.lower() not in SUFFIXES:
        raise UserError(f"{output} must end in one of {', '.join(SUFFIXES)}")
    draw_ladders([read_ladder(Path(name)) for name in args.ladders], [output])
    print(output)
    return 0
