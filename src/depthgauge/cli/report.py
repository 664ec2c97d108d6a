"""`depthgauge report`: a study as one page, at any time."""

from __future__ import annotations

import argparse
from pathlib import Path

from depthgauge.cli.study_output import say_problems
from depthgauge.errors import UserError

DESCRIPTION = (
    "Write what DIR has so far as one HTML file that needs nothing else: verdicts, ladder, "
    "diagnostics, runs, and tables for a paper. Nothing is trained."
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `report`."""
    parser.add_argument("study", metavar="DIR", help="folder of a study, or of an audit")
    parser.add_argument("-o", "--output", metavar="FILE", help="the page (DIR/report.html)")


def run(args: argparse.Namespace) -> int:
    """Write the page and say where it is."""
    from depthgauge.api import report
    from depthgauge.results.load import load

    output = page_path(args.output)
    study = load(args.study)
    say_problems(study)
    print(report(study, output))
    return 0


def page_path(given: str | None) -> Path | None:
    """Return where a page goes, None if nowhere was said; refused before any work is done."""
    if given is None:
        return None
    path = Path(given)
    if path.is_dir() or not path.resolve().parent.is_dir():
        raise UserError(f"cannot write -o {given}: there is no folder {path.parent} for the file")
    return path
