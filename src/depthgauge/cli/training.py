"""Training a grid into its folder: what `ladder`, `audit` and `reproduce` have in common."""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from depthgauge.cli.options import choose_device

if TYPE_CHECKING:
    from depthgauge.executors.job import Job
    from depthgauge.store.study_folder import StudyFolder
    from depthgauge.studies.plan import Grid


def folder_of(grid: Grid, args: argparse.Namespace) -> Path:
    """The folder that was asked for, or one that only this task, network and recipe lead to."""
    import hashlib

    if args.out is not None:
        return Path(args.out)
    digest = hashlib.sha256(json.dumps(grid.base, sort_keys=True).encode()).hexdigest()[:6]
    return Path("runs") / f"{grid.task.name}-d{grid.net.width}-L{grid.net.blocks}-{digest}"


def show_plan(grid: Grid, folder: Path, as_json: bool) -> int:
    """Print the runs and which are done already."""
    from depthgauge.store.study_folder import StudyFolder

    study = StudyFolder(folder)
    study.check(grid.base)
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


def open_study(grid: Grid, folder: Path, args: argparse.Namespace) -> tuple[StudyFolder, Job]:
    """The study's folder, made or checked, and the job of training into it."""
    from depthgauge.executors.job import Job
    from depthgauge.executors.local import threads_for
    from depthgauge.store.study_folder import StudyFolder

    device = choose_device(args.device)
    study = StudyFolder(folder)
    threads = study.open(grid.base, args.threads, threads_for(len(grid.cohorts())))
    return study, Job(folder, args.task, args.validation, device, threads, args.save_every)


def train_grid(study: StudyFolder, grid: Grid, job: Job) -> bool:
    """Train the cohorts that are left, with a progress bar; True if any failed."""
    from depthgauge.cli.progress import study_progress
    from depthgauge.executors.local import run_locally
    from depthgauge.studies.runner import epochs_behind, left_to_do

    left = left_to_do(study, grid.cohorts())
    steps = math.ceil(len(grid.task.train) / grid.recipe.batch_size)
    total = sum(
        len(cohort) * steps * (grid.recipe.epochs - epochs_behind(study, cohort)) for cohort in left
    )
    with study_progress(total, "training") as progress:
        failures = run_locally(job, left, grid.task, progress.advance)
    for failure in failures:
        print(
            f"depthgauge: {failure.label}: runs that failed: {failure.runs} ({failure.reason})",
            file=sys.stderr,
        )
    return bool(failures)
