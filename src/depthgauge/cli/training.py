"""Training a grid into its folder: what `ladder`, `audit` and `reproduce` have in common."""

from __future__ import annotations

import argparse
import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depthgauge.cli.options import choose_device
from depthgauge.cli.sizes import choose_sizes, say_sizes
from depthgauge.cli.status import in_words
from depthgauge.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from depthgauge.config import RunConfig
    from depthgauge.executors.interrupt import Interrupt
    from depthgauge.executors.job import Job
    from depthgauge.executors.work import Tasks
    from depthgauge.store.plan_files import CohortPlan
    from depthgauge.store.study_folder import StudyFolder
    from depthgauge.studies.plan import Grid
    from depthgauge.verdict.thresholds import Thresholds

    Executor = Callable[[Job, Interrupt, Callable[[], None]], None]

GIGABYTE = 1e9


def folder_of(grid: Grid, args: argparse.Namespace) -> Path:
    """The folder that was asked for, or one that only this task, network and recipe lead to."""
    import hashlib

    if args.out is not None:
        return Path(args.out)
    digest = hashlib.sha256(json.dumps(grid.base, sort_keys=True).encode()).hexdigest()[:6]
    return Path("runs") / f"{grid.task.name}-d{grid.net.width}-L{grid.net.blocks}-{digest}"


def show_plan(grid: Grid, folder: Path, args: argparse.Namespace) -> int:
    """Print the runs, which are done already, and what the others are expected to cost."""
    from depthgauge.store.study_folder import StudyFolder

    study = StudyFolder(folder)
    executor_of(args)
    _check_engine(grid, args)
    study.check(
        grid.base,
        choose_device(args.device, args.executor).partition(":")[0],
        args.threads,
        args.engine,
    )
    runs = [
        {
            "rule": planned.config.rule.label,
            "k": planned.config.k,
            "seed": planned.config.seed,
            "run": f"runs/{planned.config.identity}",
            "done": study.run(planned.config).result is not None,
        }
        for planned in grid.runs()
    ]
    cost = expected_cost(study, grid, args)
    if args.json:
        document = {"out": str(folder), "config": grid.base, "runs": runs, "expected": cost}
        print(json.dumps(document, indent=2))
        return 0
    for entry in runs:
        state = "done" if entry["done"] else "to do"
        print("{rule:12} k={k} seed={seed} {run}".format(**entry), state)
    done = sum(bool(entry["done"]) for entry in runs)
    print(f"{len(runs)} runs of {grid.recipe.epochs} epochs in {folder}: {done} done")
    if cost["cohorts"]:
        print(
            f"about {in_words(cost['seconds'])} in {cost['cohorts']} cohorts, "
            f"{cost['workers']} at a time with {cost['threads']} threads and "
            f"{cost['memory_bytes'] / GIGABYTE:.1f} GB each"
        )
    return 0


def expected_cost(study: StudyFolder, grid: Grid, args: argparse.Namespace) -> dict[str, Any]:
    """Time and memory of what is left, on this machine, by trying a few steps of each cohort."""
    from depthgauge.executors.local import workers_for
    from depthgauge.studies.expected import expect
    from depthgauge.studies.partition import cohorts_left
    from depthgauge.studies.progress import share_done
    from depthgauge.training.threads import with_threads

    device, file = choose_device(args.device), study.read()
    sizing = choose_sizes(study, grid, args, device, file.threads if file else args.threads)
    cohorts, threads = cohorts_left(study, grid, sizing.runs), sizing.threads
    engine = file.engine if file else args.engine or "cohort"
    with with_threads(threads):
        behind = partial(share_done, study)
        expected = expect(cohorts, grid.task, device, behind, engine)
    workers = workers_for(len(cohorts), threads, device)
    return {
        "seconds": expected.wall_seconds(workers),
        "memory_bytes": expected.memory,
        "cohorts": len(cohorts),
        "workers": workers,
        "threads": threads,
    }


def train_grid(
    grid: Grid,
    folder: Path,
    args: argparse.Namespace,
    *,
    networks: bool = False,
    thresholds: Thresholds | None = None,
) -> tuple[StudyFolder, bool]:
    """Train what is left of the grid, with a progress bar; True if runs have failed.

    With `networks`, those of runs that are done will be read, and must be in good order. What
    fires while they are trained does so by the `thresholds`, or by the protocol's.
    """
    from depthgauge.executors.slurm import hand_to_slurm
    from depthgauge.studies.costs import cohort_bytes

    execute = executor_of(args, {(_task_as_typed(args), args.validation): grid.task})
    study, cohorts, job = prepare(grid, folder, args, networks=networks)
    if args.executor == "slurm" and cohorts:
        memory = max(cohort_bytes(cohort, grid.task, job.engine) for cohort in cohorts)
        hand_to_slurm(job, memory, args.submit)
    train_job(study, cohorts, job, execute, thresholds)
    failed = (run.config for run in grid.runs() if study.has_failed(run.identity))
    return study, say_failures(study, failed)


def prepare(
    grid: Grid, folder: Path, args: argparse.Namespace, *, networks: bool
) -> tuple[StudyFolder, list[CohortPlan], Job]:
    """Open the study's folder, put what is damaged aside, and plan what is not planned yet."""
    from depthgauge.executors.job import Job
    from depthgauge.store.provenance import command_line
    from depthgauge.store.study_folder import StudyFolder
    from depthgauge.studies.partition import plan_runs

    _check_engine(grid, args)
    device, study = choose_device(args.device, args.executor), StudyFolder(folder)
    kind = device.partition(":")[0]
    begun = study.check(grid.base, kind, args.threads, args.engine)
    sizing = choose_sizes(study, grid, args, device, begun.threads if begun else args.threads)
    opened = study.open(grid.base, kind, args.threads, sizing.threads, args.engine)
    if opened.threads != sizing.threads:  # by another command, at the same time
        sizing = choose_sizes(study, grid, args, device, opened.threads)
    runs = ((run.identity, run.kind.recipe.epochs) for run in grid.runs())
    done = study.mend(runs, networks=networks)
    before = study.plan_files.read().cohorts
    planned = plan_runs(study, grid, _task_as_typed(args), args.validation, sizing.runs, done=done)
    cohorts = [cohort for cohort in planned if study.has_open_runs(cohort, done)]
    names = tuple(cohort.name for cohort in cohorts)
    how = (device, opened.threads, args.save_every, command_line(), opened.engine)
    job = Job(folder.resolve(), names, *how)
    if cohorts and args.executor == "local" and not any(one.name in before for one in cohorts):
        say_sizes(sizing)
    return study, cohorts, job


def _check_engine(grid: Grid, args: argparse.Namespace) -> None:
    """The reference path has the products of PyTorch's own modules."""
    if args.engine == "plain" and grid.recipe.dtype == "bf16":
        raise UserError("--dtype bf16 goes with --engine cohort; plain multiplies in full")


def _task_as_typed(args: argparse.Namespace) -> str:
    """Its name, or where its file is."""
    return str(Path(args.task).resolve()) if Path(args.task).is_file() else args.task


def executor_of(args: argparse.Namespace, tasks: Tasks | None = None) -> Executor:
    """Where the cohorts are trained; `tasks` are those that this process has loaded."""
    if args.executor == "ray":
        try:
            from depthgauge.executors.on_ray import run_on_ray
        except ImportError as error:
            raise UserError("--executor ray needs Ray: pip install 'depthgauge[ray]'") from error

        return lambda job, interrupt, on_look: run_on_ray(job, args.address, interrupt, on_look)
    if args.address is not None:
        raise UserError("--address goes with --executor ray")
    if args.submit and args.executor != "slurm":
        raise UserError("--submit goes with --executor slurm")
    from depthgauge.executors.local import run_locally

    return partial(run_locally, tasks=tasks)


def train_job(
    study: StudyFolder,
    cohorts: list[CohortPlan],
    job: Job,
    execute: Executor,
    thresholds: Thresholds | None = None,
) -> None:
    """Train until all has ended, showing how far it is."""
    from depthgauge.cli.progress import study_progress
    from depthgauge.errors import StoppedError
    from depthgauge.executors.interrupt import interruptible
    from depthgauge.studies.progress import ProgressReader
    from depthgauge.studies.so_far import SoFarReader
    from depthgauge.training.engine import StoppedEarlyError

    if not cohorts:
        return
    reader = ProgressReader(study, cohorts)
    before, so_far = reader.read(), SoFarReader(study, thresholds).read
    with (
        interruptible() as interrupt,
        study_progress(before.total, "training", before.done, so_far) as progress,
    ):

        def on_look() -> None:
            now = reader.read()
            progress.at(", ".join(now.labels), now.done)

        try:
            execute(job, interrupt, on_look)
            on_look()
        except StoppedEarlyError as stopped:
            raise StoppedError(interrupt.signal or 0) from stopped


def say_failures(study: StudyFolder, failed: Iterable[RunConfig]) -> bool:
    """Say of runs that have failed why, each reason once; True if there are any."""
    reasons: dict[str, list[str]] = {}
    for config in failed:
        failure = study.paths(config.identity).failure
        if failure is not None:
            label = f"{config.rule.label} k={config.k} seed={config.seed}"
            reasons.setdefault(str(failure["reason"]), []).append(label)
    for reason, labels in reasons.items():
        more = f" and {len(labels) - 1} more" if len(labels) > 1 else ""
        print(f"depthgauge: {labels[0]}{more} failed: {reason}", file=sys.stderr)
    return bool(reasons)
