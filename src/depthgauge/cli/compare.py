"""`depthgauge compare`: compare several studies, with differences paired by seed."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from typing import TYPE_CHECKING

from depthgauge.cli.output import add_json_option, page_path, print_json
from depthgauge.errors import UserError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

    from depthgauge.report.audit_table import Table
    from depthgauge.results.comparison import Comparison


def add_compare(parser: argparse.ArgumentParser) -> None:
    """Add the options of `compare`."""
    parser.description = (
        "Every rule of every study; the same rule in several studies; and each rule "
        "against backpropagation. Differences are paired over common seeds."
    )
    parser.add_argument("studies", nargs="+", metavar="DIR", help="folders of studies")
    parser.add_argument("--to", metavar="RULE", help="the rule to compare the others with (bp)")
    parser.add_argument("-o", "--output", metavar="FILE", help="also write it as an HTML page")
    add_json_option(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    """Read the folders and print the comparison."""
    from depthgauge.api import compare
    from depthgauge.report.page.compared_page import write_compared_page

    if len(args.studies) == 1:
        raise UserError(
            f"{args.studies[0]} is the only study given; compare needs two or more, and "
            "`depthgauge report` shows one"
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


def print_comparison(compared: Comparison) -> None:
    """Print the studies, three tables with their sentences, and how to read them."""
    from depthgauge.report import side_by_side_table as tables
    from depthgauge.report import side_by_side_words as words
    from depthgauge.report.console import output

    console = output()
    for sentence in words.study_words(compared):
        console.print(sentence, markup=False)
    console.print()
    show = partial(_print_table, console)
    show("Every rule of every study", tables.rule_table(compared), {}, words.NO_RULE)
    show(
        "The same rule in several studies",
        tables.same_rule_table(compared),
        words.same_rule_words(compared),
        words.NO_SAME_RULE,
    )
    show(
        f"Each rule against {compared.to}",
        tables.against_table(compared),
        words.against_words(compared),
        words.nothing_against(compared),
    )
    console.print(words.HOW_TO_READ, markup=False)


def _print_table(
    console: Console, title: str, table: Table, sentences: dict[str, list[str]], otherwise: str
) -> None:
    """Print a table in parts, one for each value of its first column, below its sentences."""
    from depthgauge.report.side_by_side_table import by_first_column

    parts = by_first_column(table)
    headings = list(dict.fromkeys([*sentences, *parts]))
    console.print(f"{title}\n", markup=False, style="bold")
    for heading in headings:
        for sentence in (heading, *sentences.get(heading, ())):
            console.print(sentence, markup=False)
        if heading in parts:
            console.print(_terminal_table(parts[heading], not console.options.ascii_only))
        else:
            console.print()
    if not headings:
        console.print(f"{otherwise}\n", markup=False)


def _terminal_table(table: Table, signs: bool) -> RichTable:
    from rich.text import Text

    from depthgauge.report.side_by_side_table import WORDS
    from depthgauge.report.table import terminal_table
    from depthgauge.report.verdict_text import with_styled_verdicts

    header, rows = with_styled_verdicts(table, signs=signs)
    cells = [
        [Text(str(cell)) if name in WORDS else cell for name, cell in zip(header, row, strict=True)]
        for row in rows
    ]
    return terminal_table(header, cells)
