"""`depthgauge compare`: compare several studies, with differences paired by seed."""

from __future__ import annotations

import argparse
import sys

from depthgauge.cli.output import add_json_option, page_path, print_json
from depthgauge.errors import UserError


def add_compare(parser: argparse.ArgumentParser) -> None:
    """Add the options of `compare`."""
    parser.description = (
        "Print every rule of every study, compare rules that are in several studies, and compare "
        "each rule with backpropagation. Differences are paired by seed."
    )
    parser.add_argument("studies", nargs="+", metavar="DIR", help="folders of studies")
    parser.add_argument("--to", metavar="RULE", help="the rule to compare the others with (bp)")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="also write the comparison as an HTML page"
    )
    add_json_option(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    """Read the folders of the studies and print the comparison."""
    from depthgauge.api import compare
    from depthgauge.report.page.compared_page import write_compared_page
    from depthgauge.report.terminal import print_comparison

    if len(args.studies) == 1:
        raise UserError(
            f"only one study is given, {args.studies[0]}; give at least two, or use `depthgauge "
            "report` for a single study"
        )
    output = page_path(args.output)
    compared = compare(args.studies, args.to)
    if args.json:
        print_json(compared.to_dict())
    else:
        print_comparison(compared)
    if output is not None:
        write_compared_page(compared, output)
        print(output, file=sys.stderr if args.json else sys.stdout)
    return 0
