"""`depthgauge ladder`: train the last k blocks for k = 0 … L, and see whether depth is used."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depthgauge.cli.options import (
    add_grid_options,
    add_k,
    add_run_options,
    add_task,
    build_grid,
)
from depthgauge.cli.report import page_at_the_end
from depthgauge.cli.training import folder_of, show_plan, show_submitted, submit_grid, train_grid

if TYPE_CHECKING:
    from depthgauge.scheduling.plan import Grid


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `ladder` to the command line."""
    parser = subparsers.add_parser(
        "ladder",
        help="depth-utility ladder: accuracy over the number of trained blocks",
        description="Train the last k blocks, keep the others at initialisation: accuracy over k "
        "shows whether a rule uses depth. The same command continues where it stopped.",
    )
    add_task(parser)
    add_grid_options(parser)
    add_k(parser)
    add_run_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Train what is left of the ladder, then print and write it."""
    grid = build_grid(args)
    folder = folder_of(grid, args)
    if args.dry_run:
        return show_plan(grid, folder, args)
    if submitted := submit_grid(grid, folder, args):
        return show_submitted(submitted, args)
    ladder, failed = train_ladder(grid, folder, args)
    with page_at_the_end(folder, quiet=args.json):
        if args.json:
            print(json.dumps(ladder, indent=2))
        else:
            print_ladder(ladder, folder)
    return failed


def train_ladder(grid: Grid, folder: Path, args: argparse.Namespace) -> tuple[dict[str, Any], int]:
    """Train what is left and write `ladder.json` and its figure; also the status."""
    from depthgauge.store.provenance import environment
    from depthgauge.studies.ladder import collect_ladder, has_diverged

    study, failed = train_grid(grid, folder, args)
    ladder = collect_ladder(study, grid.base, grid.task.chance, grid.rule_configs, environment())
    write_ladder(ladder, folder)
    return ladder, int(failed or has_diverged(ladder))


def write_ladder(ladder: dict[str, Any], folder: Path) -> None:
    """`ladder.json`, `ladder.md`, `ladder.png` and `ladder.svg`."""
    from depthgauge.report.figures.ladder import draw_ladders
    from depthgauge.report.ladder_table import caption, ladder_rows
    from depthgauge.report.ladder_words import ladder_words
    from depthgauge.report.paper.markdown import markdown_table, markdown_text
    from depthgauge.store.files import write_json, write_text

    write_json(folder / "ladder.json", ladder)
    words = "".join(f"- {markdown_text(sentence)}\n" for sentence in ladder_words(ladder))
    table = markdown_table(*ladder_rows(ladder))
    write_text(folder / "ladder.md", f"{markdown_text(caption(ladder))}\n\n{table}\n{words}")
    if ladder["results"]:
        draw_ladders([ladder], [folder / "ladder.png", folder / "ladder.svg"])


def print_ladder(ladder: dict[str, Any], folder: Path) -> None:
    """The table, the words, and where everything is."""
    from depthgauge.cli.console import output
    from depthgauge.report.ladder_table import caption, rows_with_curves
    from depthgauge.report.ladder_words import ladder_words
    from depthgauge.report.sparkline import BLOCKS, DIGITS
    from depthgauge.report.table import terminal_table

    console = output()
    signs = DIGITS if console.options.ascii_only else BLOCKS
    console.print(caption(ladder), markup=False)
    console.print(terminal_table(*rows_with_curves(ladder, signs)))
    for sentence in ladder_words(ladder):
        console.print(sentence, markup=False)
    console.print()
    for path in (folder / name for name in ("ladder.json", "ladder.md", "ladder.png")):
        if path.exists():
            console.print(f"{path}", markup=False, soft_wrap=True)
