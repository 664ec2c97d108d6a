"""Training a grid into its folder: what `ladder`, `audit` and `reproduce` have in common."""

from __future__ import annotations

import argparse
import json
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from depthgauge.cli.options import choose_device
from depthgauge.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from depthgauge.config import RunConfig
    from depthgauge.scheduling.interrupt import Interrupt
    from depthgauge.scheduling.job import Job
    from depthgauge.scheduling.plan import Grid
    from depthgauge.scheduling.sizing import Sizing
    from depthgauge.scheduling.slurm import Submitted
    from depthgauge.scheduling.worker import Tasks
    from depthgauge.store.plan_files import CohortPlan
    from depthgauge.store.study_folder import StudyFolder
    from depthgauge.verdict.thresholds import Thresholds

    Executor = Callable[[Interrupt, Callable[[], None]], None]

GIGABYTE = 1e9


def folder_of(grid: Grid, args: argparse.Namespace) -> Path:
    """The folder that was asked for, or one that only this task, network and recipe lead to."""
    import hashlib

    if args.out is not None:
        return Path(args.out)
    digest = hashlib.sha256(json.dumps(grid.base, sort_keys=True).encode()).hexdigest()[:6]
    return Path("runs") / f"{grid.task.name}-d{grid.net.width}-L{grid.net.blocks}-{digest}"


def show_plan(grid: Grid, folder: Path, args: argparse.Namespace) -> int:
    """Print every run and its state, and in how many cohorts and processes the rest is trained."""
    from depthgauge.scheduling.cohorts import cohorts_left
    from depthgauge.scheduling.memory_estimate import planned_bytes
    from depthgauge.scheduling.sizing import processes_for
    from depthgauge.store.study_folder import StudyFolder

    study = StudyFolder(folder)
    check_executor(args)
    _check_engine(grid, args)
    device = choose_device(args.device, args.executor)
    begun = study.check(grid.base, device.partition(":")[0], args.threads, args.engine)
    runs = [
        {
            "rule": planned.config.rule.label,
            "k": planned.config.k,
            "seed": planned.config.seed,
            "run": f"runs/{planned.identity}",
            "state": _state(study, planned.config),
        }
        for planned in grid.runs()
    ]
    sizing = choose_sizes(study, grid, args, device, begun.threads if begun else args.threads)
    cohorts = cohorts_left(study, grid, sizing.runs)
    needs = [planned_bytes(cohort, grid.task) for cohort in cohorts]
    processes = processes_for(needs, sizing.threads, device) if cohorts else 0
    if args.json:
        expected = {"cohorts": len(cohorts), "processes": processes, "threads": sizing.threads}
        expected |= {"memory_bytes": max(needs, default=0)}
        document = {"out": str(folder), "config": grid.base, "runs": runs, "expected": expected}
        print(json.dumps(document, indent=2))
        return 0
    for entry in runs:
        print("{rule:12} k={k} seed={seed} {run} {state}".format(**entry))
    finished = sum(entry["state"] in ("finished", "diverged") for entry in runs)
    print(f"{len(runs)} runs in {folder}: {finished} finished")
    if cohorts:
        line = start_line(study, cohorts, sizing.threads, args.executor, processes)
        print(f"{line}, {max(needs) / GIGABYTE:.1f} GB each")
    return 0


def _state(study: StudyFolder, config: RunConfig) -> str:
    """Return the state of a run; one whose result cannot be used, which is said, has stopped."""
    from depthgauge.scheduling.status import state_of

    state = state_of(study.paths(config.identity))
    ended = state in ("finished", "diverged")
    return "stopped" if ended and study.run(config).result is None else state


def choose_sizes(
    study: StudyFolder, grid: Grid, args: argparse.Namespace, device: str, threads: int | None
) -> Sizing:
    """Choose sizes for what is neither planned nor done; `threads` where they are fixed."""
    from depthgauge.scheduling.sizing import size_cohorts

    begun, planned = study.read() is not None, study.plan_files.read().cohort_of
    runs = [
        run
        for run in grid.runs()
        if run.identity not in planned and not (begun and study.is_done(run.identity))
    ]
    cluster = args.executor != "local"
    return size_cohorts(runs, grid.task, device, threads, args.cohort, cluster=cluster)


def start_line(
    study: StudyFolder, cohorts: list[CohortPlan], threads: int, executor: str, processes: int
) -> str:
    """Say what is trained: `45 runs of 30 epochs: 6 cohorts, 2 processes of 1 thread`."""
    runs = sum(len(study.open_runs(cohort)) for cohort in cohorts)
    epochs = max(cohort.recipe.epochs for cohort in cohorts)
    where = f"{_count(processes, 'process', 'processes')} of {_count(threads, 'thread')}"
    if executor != "local":
        where = f"tasks of {_count(threads, 'thread')} for {executor.capitalize()}"
    what = f"{_count(runs, 'run')} of {_count(epochs, 'epoch')}"
    return f"{what}: {_count(len(cohorts), 'cohort')}, {where}"


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def submit_grid(
    grid: Grid, folder: Path, args: argparse.Namespace, *, networks: bool = False
) -> Submitted | None:
    """Write what is left of the grid as a Slurm job; None if it is trained or collected here."""
    from depthgauge.scheduling.memory_estimate import planned_bytes
    from depthgauge.scheduling.slurm import write_job

    if args.executor != "slurm":
        return None
    check_executor(args)
    _, cohorts, job = prepare(grid, folder, args, networks=networks)
    if not cohorts:
        return None
    memory = max(planned_bytes(cohort, grid.task) for cohort in cohorts)
    return write_job(job, memory, args.submit)


def show_submitted(submitted: Submitted, args: argparse.Namespace) -> int:
    """Print how the study goes on, for eyes or as one JSON document."""
    print(json.dumps(submitted.document, indent=2) if args.json else submitted)
    return 0


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
    check_executor(args)
    study, cohorts, job = prepare(grid, folder, args, networks=networks)
    tasks = {(_task_as_typed(args), args.validation): grid.task}
    train_job(study, cohorts, job, args, tasks=tasks, thresholds=thresholds)
    failed = (run.config for run in grid.runs() if study.has_failed(run.identity))
    return study, say_failures(study, failed)


def prepare(
    grid: Grid, folder: Path, args: argparse.Namespace, *, networks: bool
) -> tuple[StudyFolder, list[CohortPlan], Job]:
    """Open the study's folder, put what is damaged aside, and plan what is not planned yet."""
    from depthgauge.scheduling.cohorts import plan_runs
    from depthgauge.scheduling.job import Job
    from depthgauge.store.provenance import command_line
    from depthgauge.store.study_folder import StudyFolder

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
    planned = plan_runs(study, grid, _task_as_typed(args), args.validation, sizing.runs, done=done)
    cohorts = [cohort for cohort in planned if study.has_open_runs(cohort, done)]
    names = tuple(cohort.name for cohort in cohorts)
    how = (device, opened.threads, args.save_every, command_line(), opened.engine)
    return study, cohorts, Job(folder.resolve(), names, *how)


def _check_engine(grid: Grid, args: argparse.Namespace) -> None:
    """The reference path has the products of PyTorch's own modules."""
    if args.engine == "plain" and grid.recipe.dtype == "bf16":
        raise UserError("--dtype bf16 goes with --engine cohort; plain multiplies in full")


def _task_as_typed(args: argparse.Namespace) -> str:
    """Its name, or where its file is."""
    return str(Path(args.task).resolve()) if Path(args.task).is_file() else args.task


def check_executor(args: argparse.Namespace) -> None:
    """Refuse options that do not go with the executor, and Ray where it is not installed."""
    if args.address is not None and args.executor != "ray":
        raise UserError("--address goes with --executor ray")
    if args.submit and args.executor != "slurm":
        raise UserError("--submit goes with --executor slurm")
    if args.executor == "ray" and find_spec("ray") is None:
        raise UserError("--executor ray needs Ray: pip install 'depthgauge[ray]'")


def train_job(
    study: StudyFolder,
    cohorts: list[CohortPlan],
    job: Job,
    args: argparse.Namespace,
    *,
    tasks: Tasks | None = None,
    thresholds: Thresholds | None = None,
) -> None:
    """Train until all has ended, showing how far it is; `tasks` are those that are loaded."""
    from depthgauge.cli.progress import study_progress
    from depthgauge.errors import StoppedError
    from depthgauge.scheduling.interrupt import interruptible
    from depthgauge.scheduling.live import LiveReader
    from depthgauge.scheduling.progress import ProgressReader
    from depthgauge.training.engine import StoppedEarlyError

    if not cohorts:
        return
    execute = _executor(study, cohorts, job, args, tasks or {})
    reader = ProgressReader(study, cohorts)
    before, live = reader.read(), LiveReader(study, thresholds).read
    with (
        interruptible() as interrupt,
        study_progress(before.total, "training", before.done, live) as progress,
    ):

        def on_look() -> None:
            now = reader.read()
            progress.at(", ".join(now.labels), now.done)

        try:
            execute(interrupt, on_look)
            on_look()
        except StoppedEarlyError as stopped:
            raise StoppedError(interrupt.signal or 0) from stopped


def _executor(
    study: StudyFolder,
    cohorts: list[CohortPlan],
    job: Job,
    args: argparse.Namespace,
    tasks: Tasks,
) -> Executor:
    """Choose where the job is trained, and say so in a line."""
    from depthgauge.scheduling.local import run_locally
    from depthgauge.scheduling.memory_estimate import planned_bytes
    from depthgauge.scheduling.sizing import processes_for
    from depthgauge.tasks.registry import load_task

    processes = 0
    if args.executor == "local":
        task_of = study.plan_files.read().task_of
        tasks = dict(tasks)
        for typed in {task_of(cohort) for cohort in cohorts} - tasks.keys():
            tasks[typed] = load_task(*typed)
        needs = [planned_bytes(cohort, tasks[task_of(cohort)]) for cohort in cohorts]
        processes = processes_for(needs, job.threads, job.device)
    line = start_line(study, cohorts, job.threads, args.executor, processes)
    print(line, file=sys.stderr, flush=True)
    if args.executor == "ray":
        from depthgauge.scheduling.ray import run_on_ray

        return partial(run_on_ray, job, args.address)
    return partial(run_locally, job, processes, tasks=tasks)


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
