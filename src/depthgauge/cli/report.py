"""`depthgauge report`: a study as one page, at any time."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `report` to the command line."""
    parser = subparsers.add_parser(
        "report",
        help="a study as one self-contained HTML page",
        description="Write what DIR has so far as one HTML file that needs nothing else: verdicts, "
        "ladder, diagnostics, runs, and tables for a paper. Nothing is trained.",
    )
    parser.add_argument("study", metavar="DIR", help="folder of a study, or of an audit")
    parser.add_argument("-o", "--output", metavar="FILE", help="the page (DIR/report.html)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the page and say where it is."""
    from depthgauge.errors import UserError
    from depthgauge.report.page.study_page import write_study_page

    output = Path(args.output) if args.output else None
    if output is not None and (output.is_dir() or not output.resolve().parent.is_dir()):
        raise UserError(f"-o {output} is not a file that can be written; name one, as in page.html")
    print(write_study_page(Path(args.study), output))
    return 0
