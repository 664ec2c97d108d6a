"""`depthgauge ladder`: train the last k blocks for k = 0 … L, and see whether depth is used."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depthgauge.cli.options import (
    add_grid_options,
    add_k,
    add_run_options,
    add_task,
    build_grid,
)
from depthgauge.cli.report import write_page_after
from depthgauge.cli.training import folder_of, show_plan, show_submitted, submit_grid, train_grid

if TYPE_CHECKING:
    from depthgauge.results.study import StudyResult
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
    study, status = train_ladder(grid, folder, args)
    with write_page_after(study, quiet=args.json):
        if args.json:
            print(study.ladder(provenance()).model_dump_json(indent=2))
        else:
            print_ladder(study)
    return status


def train_ladder(grid: Grid, folder: Path, args: argparse.Namespace) -> tuple[StudyResult, int]:
    """Train what is left and write `ladder.json` and its figure; also the status."""
    from depthgauge.results.load import load

    _, failed = train_grid(grid, folder, args)
    study = load(folder)
    write_ladder(study)
    return study, int(failed or "diverged" in study.counts)


def provenance() -> dict[str, Any]:
    """Return what this command runs on, and how it was typed."""
    from depthgauge.store.provenance import command_line, environment

    return environment() | {"command": command_line()}


def write_ladder(study: StudyResult) -> None:
    """Write `ladder.json`, `ladder.md`, `ladder.png` and `ladder.svg`."""
    from depthgauge.report.figures.ladder import draw_ladders
    from depthgauge.report.figures.style import file_of
    from depthgauge.report.ladder_table import caption, ladder_rows
    from depthgauge.report.ladder_words import ladder_words
    from depthgauge.report.paper.markdown import markdown_table, markdown_text
    from depthgauge.store.files import write_bytes, write_text

    ladder, folder = study.ladder(provenance()), study.folder
    write_text(folder / "ladder.json", ladder.model_dump_json(indent=2) + "\n")
    words = "".join(f"- {markdown_text(sentence)}\n" for sentence in ladder_words(ladder))
    table = markdown_table(*ladder_rows(ladder))
    write_text(folder / "ladder.md", f"{markdown_text(caption(ladder))}\n\n{table}\n{words}")
    if ladder.rules:
        figure = draw_ladders([ladder])
        for kind in ("png", "svg"):
            write_bytes(folder / f"ladder.{kind}", file_of(figure, kind))


def print_ladder(study: StudyResult) -> None:
    """Print the table, the words, and where everything is."""
    from depthgauge.cli.console import output
    from depthgauge.report.ladder_table import caption, rows_with_curves
    from depthgauge.report.ladder_words import ladder_words
    from depthgauge.report.sparkline import BLOCKS, DIGITS
    from depthgauge.report.table import terminal_table

    console, ladder = output(), study.ladder()
    signs = DIGITS if console.options.ascii_only else BLOCKS
    console.print(caption(ladder), markup=False)
    console.print(terminal_table(*rows_with_curves(ladder, signs)))
    for sentence in ladder_words(ladder):
        console.print(sentence, markup=False)
    console.print()
    for path in (study.folder / name for name in ("ladder.json", "ladder.md", "ladder.png")):
        if path.exists():
            console.print(f"{path}", markup=False, soft_wrap=True)
