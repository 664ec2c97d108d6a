"""`depthgauge ladder`: train the last k blocks for k = 0 … L, and see whether depth is used."""

from __future__ import annotations

import argparse
import json
import math
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depthgauge.cli.options import (
    add_grid_options,
    add_run_options,
    add_task,
    build_grid,
    choose_device,
)

if TYPE_CHECKING:
    from depthgauge.executors.job import Job
    from depthgauge.store.study_folder import StudyFolder
    from depthgauge.studies.plan import Grid


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
    add_run_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Train what is left of the ladder, then print and write it."""
    grid = build_grid(args)
    folder = default_folder(grid) if args.out is None else Path(args.out)
    if args.dry_run:
        return show_plan(grid, folder, args.json)
    ladder, failed = train_ladder(grid, folder, args)
    if args.json:
        print(json.dumps(ladder, indent=2))
    else:
        print_ladder(ladder, folder)
    return failed


def default_folder(grid: Grid) -> Path:
    """A folder that only this task, network and recipe lead to."""
    import hashlib

    digest = hashlib.sha256(json.dumps(grid.base, sort_keys=True).encode()).hexdigest()[:6]
    name = f"ladder-{grid.task.name}-d{grid.net.width}-L{grid.net.blocks}-{digest}"
    return Path("runs") / name


def show_plan(grid: Grid, folder: Path, as_json: bool) -> int:
    """Print the runs and which are done already."""
    from depthgauge.store.study_folder import StudyFolder

    study = StudyFolder(folder)
    study.check("ladder", grid.base)
    runs = [
        {
            "cohort": number,
            "rule": planned.config.rule.label,
            "k": planned.config.k,
            "seed": planned.config.seed,
            "run": f"runs/{planned.config.identity}",
            "done": study.run(planned.config).result is not None,
        }
        for number, cohort in enumerate(grid.cohorts())
        for planned in cohort
    ]
    if as_json:
        print(json.dumps({"out": str(folder), "config": grid.base, "runs": runs}, indent=2))
        return 0
    for entry in runs:
        state = "done" if entry["done"] else "to do"
        print("{rule:12} k={k} seed={seed} {run}".format(**entry), state)
    done = sum(bool(entry["done"]) for entry in runs)
    print(f"{len(runs)} runs of {grid.recipe.epochs} epochs in {folder}: {done} done")
    return 0


def train_ladder(grid: Grid, folder: Path, args: argparse.Namespace) -> tuple[dict[str, Any], int]:
    """Train what is left and write `ladder.json`, `ladder.md` and the figure; also the status."""
    from depthgauge.executors.job import Job
    from depthgauge.executors.local import threads_for
    from depthgauge.store.provenance import environment
    from depthgauge.store.study_folder import StudyFolder
    from depthgauge.studies.ladder import collect_ladder, has_diverged

    device = choose_device(args.device)
    study = StudyFolder(folder)
    threads = study.open("ladder", grid.base, args.threads, threads_for(len(grid.cohorts())))
    job = Job(folder, args.task, args.validation, device, threads, args.save_every)
    collect = partial(
        collect_ladder, study, grid.base, grid.task.chance, grid.rule_configs, environment()
    )
    with study.training():
        collect()  # a damaged result is found before hours of training, not after
        failed = _train(study, grid, job)
        ladder = collect()
        write_ladder(ladder, folder)
    return ladder, int(failed or has_diverged(ladder))


def _train(study: StudyFolder, grid: Grid, job: Job) -> bool:
    """Train the cohorts that are left, with a progress bar; True if any failed."""
    from depthgauge.cli.progress import study_progress
    from depthgauge.executors.local import run_locally
    from depthgauge.studies.runner import epochs_behind, left_to_do

    left = left_to_do(study, grid.cohorts())
    steps = math.ceil(len(grid.task.train) / grid.recipe.batch_size)
    total = sum(
        len(cohort) * steps * (grid.recipe.epochs - epochs_behind(study, cohort)) for cohort in left
    )
    with study_progress(total) as progress:
        failures = run_locally(job, left, grid.task, progress.advance)
    for failure in failures:
        print(
            f"depthgauge: {failure.label}: runs that failed: {failure.runs} ({failure.reason})",
            file=sys.stderr,
        )
    return bool(failures)


def write_ladder(ladder: dict[str, Any], folder: Path) -> None:
    """`ladder.json`, `ladder.md`, `ladder.png` and `ladder.svg`."""
    from depthgauge.report.ladder_figure import draw_ladders
    from depthgauge.report.ladder_table import caption, ladder_rows
    from depthgauge.report.ladder_words import ladder_words
    from depthgauge.report.table import markdown_table
    from depthgauge.store.files import write_json, write_text

    write_json(folder / "ladder.json", ladder)
    words = "".join(f"- {sentence}\n" for sentence in ladder_words(ladder))
    table = markdown_table(*ladder_rows(ladder))
    write_text(folder / "ladder.md", f"{caption(ladder)}\n\n{table}\n{words}")
    if ladder["results"]:
        draw_ladders([ladder], [folder / "ladder.png", folder / "ladder.svg"])


def print_ladder(ladder: dict[str, Any], folder: Path) -> None:
    """The table, the words, and where everything is."""
    from depthgauge.cli.console import output
    from depthgauge.report.ladder_table import caption, ladder_rows
    from depthgauge.report.ladder_words import ladder_words
    from depthgauge.report.table import terminal_table

    console = output()
    console.print(caption(ladder), markup=False)
    console.print(terminal_table(*ladder_rows(ladder)))
    for sentence in ladder_words(ladder):
        console.print(sentence, markup=False)
    console.print()
    for path in (folder / name for name in ("ladder.json", "ladder.md", "ladder.png")):
        if path.exists():
            console.print(f"{path}", markup=False, soft_wrap=True)
