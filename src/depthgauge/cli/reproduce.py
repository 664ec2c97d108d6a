"""`depthgauge reproduce NAME`: a published experiment, measured beside published."""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from depthgauge.cli.audit import audit_study, print_audit
from depthgauge.cli.ladder import print_ladder, provenance, train_ladder
from depthgauge.cli.options import add_grid_options, add_k, add_run_options, build_grid
from depthgauge.cli.report import write_page_after
from depthgauge.cli.training import folder_of, show_plan, show_submitted, submit_grid

if TYPE_CHECKING:
    from depthgauge.published.compare import PublishedComparison

EXPERIMENTS = {
    "memo-ladder": "the published ladders on CIFAR-10: --width 256 --blocks 4, --width 512 "
    "--blocks 2",
    "main-audit": "the published audit on CIFAR-10: --width 256 --blocks 4",
    "thirty-epochs": "the published runs of thirty epochs on CIFAR-10, plain and with a penalty of "
    "0.01",
}


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `reproduce` and the experiments it knows."""
    parser = subparsers.add_parser(
        "reproduce", help="a published experiment, measured beside published"
    )
    experiments = parser.add_subparsers(metavar="NAME", required=True)
    for name, summary in EXPERIMENTS.items():
        own = experiments.add_parser(name, help=summary)
        is_ladder = name == "memo-ladder"
        add_grid_options(own, fewest_blocks=0 if is_ladder else 1)
        if is_ladder:
            add_k(own)
        add_run_options(own)
        own.set_defaults(run=partial(run, name), task="cifar10")
        if name == "thirty-epochs":
            own.set_defaults(rules=None, epochs=30)


def run(name: str, args: argparse.Namespace) -> int:
    """Train what is left of the published experiment, and compare."""
    from depthgauge.published.experiments import EXPERIMENTS as PUBLISHED
    from depthgauge.store.files import write_json, write_text
    from depthgauge.verdict.thresholds import Thresholds

    experiment = PUBLISHED[name]
    args.rules = args.rules or list(experiment.rules or ())
    if experiment.audits:
        args.k = [0, args.blocks]
    grid = build_grid(args)
    experiment.check(grid.net)
    folder = folder_of(grid, args)
    if args.dry_run:
        return show_plan(grid, folder, args)
    if submitted := submit_grid(grid, folder, args, networks=experiment.audits):
        return show_submitted(submitted, args)
    if experiment.audits:
        study, failed = audit_study(grid, folder, args, Thresholds(), as_published=True)
        status = int(failed)
    else:
        study, status = train_ladder(grid, folder, args)
    comparison = experiment.compare(study)
    stem = "audit_comparison" if experiment.audits else "comparison"
    write_json(folder / f"{stem}.json", comparison.as_dict())
    write_text(folder / f"{stem}.md", _markdown(comparison))
    with write_page_after(study, quiet=args.json):
        if args.json:
            model = study.audit if experiment.audits else study.ladder(provenance())
            assert model is not None  # noqa: S101
            document = model.model_dump(mode="json") | {"comparison": comparison.as_dict()}
            print(json.dumps(document, indent=2, ensure_ascii=False))
        else:
            (print_audit if experiment.audits else print_ladder)(study)
            _print(comparison, folder / f"{stem}.md")
    return status


def _markdown(comparison: PublishedComparison) -> str:
    from depthgauge.report.paper.markdown import markdown_table, markdown_text
    from depthgauge.report.published_table import published_tables, published_words

    tables = "\n".join(markdown_table(*table) for table in published_tables(comparison))
    words = "".join(f"- {markdown_text(one)}\n" for one in published_words(comparison))
    return f"{tables}\n{words}"


def _print(comparison: PublishedComparison, path: Path) -> None:
    from depthgauge.cli.console import output
    from depthgauge.report.published_table import published_tables, published_words
    from depthgauge.report.table import terminal_table

    console = output()
    console.print("measured beside published")
    for table in published_tables(comparison):
        console.print(terminal_table(*table))
    for sentence in published_words(comparison):
        console.print(sentence, markup=False)
    console.print(f"{path}", markup=False, soft_wrap=True)
