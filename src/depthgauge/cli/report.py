"""`depthgauge report`: write a study as one HTML page, even while the study is in training."""

from __future__ import annotations

import argparse

from depthgauge.cli.output import page_path, say_problems


def add_report(parser: argparse.ArgumentParser) -> None:
    """Add the options of `report`."""
    parser.description = (
        "Write the study in DIR, finished or not, as one self-contained HTML file: verdicts, "
        "ladder, diagnostics, runs, and tables for a paper. Nothing is trained."
    )
    parser.add_argument("study", metavar="DIR", help="folder of a study, or of audited checkpoints")
    parser.add_argument("-o", "--output", metavar="FILE", help="the page (DIR/report.html)")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    """Write the page and print its path."""
    from depthgauge.api import report
    from depthgauge.results.load import load

    output = page_path(args.output)
    study = load(args.study)
    say_problems(study)
    print(report(study, output))
    return 0
