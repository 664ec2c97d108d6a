"""`depthgauge reproduce NAME`: a published experiment, measured beside published."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depthgauge.cli.audit import audit_study, print_audit
from depthgauge.cli.ladder import print_ladder, train_ladder
from depthgauge.cli.options import add_grid_options, add_k, add_run_options, build_grid
from depthgauge.cli.report import page_at_the_end
from depthgauge.cli.training import folder_of, show_plan, show_submitted, submit_grid

if TYPE_CHECKING:
    from depthgauge.config import NetConfig
    from depthgauge.report.audit_comparison import Table


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `reproduce` and the experiments it knows."""
    parser = subparsers.add_parser(
        "reproduce", help="a published experiment, measured beside published"
    )
    experiments = parser.add_subparsers(metavar="NAME", required=True)
    ladder = experiments.add_parser(
        "memo-ladder",
        help="the published ladders on CIFAR-10: --width 256 --blocks 4, --width 512 --blocks 2",
    )
    add_grid_options(ladder)
    add_k(ladder)
    add_run_options(ladder)
    ladder.set_defaults(run=run_ladder, task="cifar10")
    audit = experiments.add_parser(
        "main-audit", help="the published audit on CIFAR-10: --width 256 --blocks 4"
    )
    add_grid_options(audit, fewest_blocks=1)
    add_run_options(audit)
    audit.set_defaults(run=run_audit, task="cifar10")
    thirty = experiments.add_parser(
        "thirty-epochs",
        help="the published runs of thirty epochs on CIFAR-10, plain and with a penalty of 0.01",
    )
    add_grid_options(thirty, fewest_blocks=1)
    add_run_options(thirty)
    thirty.set_defaults(run=run_thirty, task="cifar10", rules=None, epochs=30)


def run_ladder(args: argparse.Namespace) -> int:
    """Train what is left of the published grid and compare."""
    from depthgauge.store.files import write_json, write_text
    from depthgauge.studies.published import compare_ladder, published_ladder

    grid = build_grid(args)
    published_ladder(grid.net.width, grid.net.blocks)
    folder = folder_of(grid, args)
    if args.dry_run:
        return show_plan(grid, folder, args)
    if submitted := submit_grid(grid, folder, args):
        return show_submitted(submitted, args)
    ladder, status = train_ladder(grid, folder, args)
    comparison = compare_ladder(ladder)
    write_json(folder / "comparison.json", comparison)
    write_text(folder / "comparison.md", _markdown(comparison))
    with page_at_the_end(folder, quiet=args.json):
        if args.json:
            print(json.dumps(ladder | {"comparison": comparison}, indent=2))
        else:
            print_ladder(ladder, folder)
            _print(comparison, folder)
    return status


def run_audit(args: argparse.Namespace) -> int:
    """Train what is left of the published audit, read it, and compare."""
    from depthgauge.report.audit_comparison import audit_comparison_tables, audit_comparison_words
    from depthgauge.studies.published_audit import check_published, compare_audit

    return _audit_and_compare(
        args, check_published, compare_audit, audit_comparison_tables, audit_comparison_words
    )


def run_thirty(args: argparse.Namespace) -> int:
    """The same for thirty epochs."""
    from depthgauge.report.thirty_comparison import (
        thirty_comparison_tables,
        thirty_comparison_words,
    )
    from depthgauge.studies.published_thirty import RULES, check_thirty, compare_thirty

    args.rules = args.rules or RULES
    return _audit_and_compare(
        args, check_thirty, compare_thirty, thirty_comparison_tables, thirty_comparison_words
    )


def _audit_and_compare(
    args: argparse.Namespace,
    check: Callable[[NetConfig], None],
    compare: Callable[[dict[str, Any]], dict[str, Any]],
    tables_of: Callable[[dict[str, Any]], list[Table]],
    words_of: Callable[[dict[str, Any]], list[str]],
) -> int:
    from depthgauge.cli.console import output
    from depthgauge.report.paper.markdown import markdown_table, markdown_text
    from depthgauge.report.table import terminal_table
    from depthgauge.store.files import write_json, write_text
    from depthgauge.verdict.thresholds import Thresholds

    args.k = [0, args.blocks]
    grid = build_grid(args)
    check(grid.net)
    folder = folder_of(grid, args)
    if args.dry_run:
        return show_plan(grid, folder, args)
    if submitted := submit_grid(grid, folder, args, networks=True):
        return show_submitted(submitted, args)
    document, failed = audit_study(grid, folder, args, Thresholds(), as_in_the_record=True)
    comparison = compare(document)
    tables = [table for table in tables_of(comparison) if table[1]]
    words = words_of(comparison)
    write_json(folder / "audit_comparison.json", comparison)
    text = "\n".join(markdown_table(*table) for table in tables)
    write_text(
        folder / "audit_comparison.md",
        text + "".join(f"\n- {markdown_text(word)}\n" for word in words),
    )
    with page_at_the_end(folder, quiet=args.json):
        if args.json:
            print(json.dumps(document | {"comparison": comparison}, indent=2, ensure_ascii=False))
        else:
            print_audit(document, folder)
            console = output()
            for table in tables:
                console.print(terminal_table(*table))
            for word in words:
                console.print(word, markup=False)
            console.print(f"{folder / 'audit_comparison.md'}", markup=False, soft_wrap=True)
    return int(failed)


def _markdown(comparison: dict[str, Any]) -> str:
    from depthgauge.report.comparison_table import (
        HEADER,
        comparison_rows,
        comparison_words,
    )
    from depthgauge.report.paper.markdown import markdown_table, markdown_text

    parts = [markdown_table(HEADER, comparison_rows(comparison["rungs"]))]
    if comparison["cross_checks"]:
        rows = comparison_rows(comparison["cross_checks"])
        parts.append("Cross-checks:\n\n" + markdown_table(HEADER, rows))
    parts.append("".join(f"- {markdown_text(one)}\n" for one in comparison_words(comparison)))
    return "\n".join(parts)


def _print(comparison: dict[str, Any], folder: Path) -> None:
    from depthgauge.cli.console import output
    from depthgauge.report.comparison_table import (
        HEADER,
        comparison_rows,
        comparison_words,
    )
    from depthgauge.report.table import terminal_table

    console = output()
    for title, key in (("measured beside published", "rungs"), ("cross-checks", "cross_checks")):
        if comparison[key]:
            console.print(title)
            console.print(terminal_table(HEADER, comparison_rows(comparison[key])))
    for sentence in comparison_words(comparison):
        console.print(sentence)
    console.print(f"{folder / 'comparison.md'}", markup=False, soft_wrap=True)
