"""Training what is left of a study: plan it, choose where, train until all has ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from depthgauge.errors import StoppedError, UserError
from depthgauge.number_format import counted, duration
from depthgauge.scheduling.cohorts import plan_runs
from depthgauge.scheduling.grid import Grid, RunList
from depthgauge.scheduling.interrupt import Interrupt, interruptible
from depthgauge.scheduling.live import LiveReader, LiveRule
from depthgauge.scheduling.local import run_locally
from depthgauge.scheduling.memory_estimate import planned_bytes
from depthgauge.scheduling.progress import ProgressReader
from depthgauge.scheduling.resources import choose_device
from depthgauge.scheduling.sizing import Sizing, processes_for, size_cohorts
from depthgauge.scheduling.slurm import Submitted, write_job
from depthgauge.scheduling.time_estimate import seconds_to_train
from depthgauge.scheduling.worker import Job, Tasks
from depthgauge.store.done_runs import DoneRun, read_done_runs
from depthgauge.store.plan_files import CohortPlan
from depthgauge.store.provenance import command_line
from depthgauge.store.study_folder import StudyDocument, StudyFolder
from depthgauge.study_config import StudyConfig
from depthgauge.tasks.registry import load_task
from depthgauge.training.loop import StoppedEarlyError
from depthgauge.verdict.thresholds import Thresholds


class Meter(Protocol):
    """Shows how far something is."""

    def at(self, label: str, done: int) -> None:
        """Show that so much is done, and what is being worked on."""
        ...


class ShowProgress(Protocol):
    """Shows progress while its context is open."""

    def __call__(
        self, total: int, doing: str, done: int, status: Callable[[], list[LiveRule]]
    ) -> AbstractContextManager[Meter]:
        """Begin to show progress over `total` steps, `done` of which are behind."""
        ...


MOST_RULES = 8
"""The line before training names so many rules."""


@dataclass(frozen=True)
class Execution:
    """Where and how cohorts are trained.

    Attributes:
        config: says where, on which device, with how many threads, and how often to save.
        say: hears one line about what will be trained.
        show: shows progress.
    """

    config: StudyConfig
    say: Callable[[str], None]
    show: ShowProgress

    @property
    def device(self) -> str:
        """The device that is used here."""
        return choose_device(self.config.device, self.config.executor)


@dataclass(frozen=True)
class Prepared:
    """A study whose folder is open and whose plan is written.

    Attributes:
        study: the folder; it knows the plan.
        file: its `study.json`.
        done: the runs that were done before, as they were read.
        cohorts: those that are left.
        job: what an executor is asked to do.
    """

    study: StudyFolder
    file: StudyDocument
    done: Mapping[str, DoneRun]
    cohorts: list[CohortPlan]
    job: Job


def check_executor(executor: str) -> None:
    """Refuse Ray where it is not installed."""
    if executor == "ray" and find_spec("ray") is None:
        raise UserError("--executor ray needs Ray: pip install 'depthgauge[ray]'")


def train(
    grid: Grid | RunList,
    folder: Path,
    execution: Execution,
    *,
    networks: bool = False,
    thresholds: Thresholds | None = None,
) -> tuple[Prepared, Submitted | None]:
    """Train what is left of a grid; what Slurm shall train is submitted instead, and returned.

    With `networks`, those of full runs that are done are read, and must be in good order. What
    fires while they are trained does so by the `thresholds`, or by the protocol's.
    """
    config = execution.config
    check_executor(config.executor)
    prepared = prepare(grid, folder, execution, networks=networks)
    if config.executor == "slurm" and prepared.cohorts:
        memory = max(planned_bytes(cohort, grid.task) for cohort in prepared.cohorts)
        return prepared, write_job(prepared.job, memory, config.submit)
    tasks = {(task_reference(config), config.validation): grid.task}
    train_job(prepared, execution, tasks=tasks, thresholds=thresholds, noun=grid.noun)
    return prepared, None


def prepare(
    grid: Grid | RunList, folder: Path, execution: Execution, *, networks: bool
) -> Prepared:
    """Open the study's folder, put what is damaged aside, and plan what is not planned yet."""
    config, device, study = execution.config, execution.device, StudyFolder(folder)
    kind = device.partition(":")[0]
    begun = study.check(grid.base, kind, config.threads, config.engine)
    sizing = choose_sizes(study, grid, execution, begun)
    file = begun or study.open(grid.base, kind, config.threads, sizing.threads, config.engine)
    if file.threads != sizing.threads:  # by another command, at the same time
        sizing = choose_sizes(study, grid, execution, file)
    done = read_done_runs(study, ((run.config, networks and run.is_full) for run in grid.runs()))
    planned = plan_runs(
        study, grid, task_reference(config), config.validation, sizing.runs, done=done
    )
    cohorts = [cohort for cohort in planned if study.has_open_runs(cohort, done)]
    names = tuple(cohort.name for cohort in cohorts)
    how = (device, file.threads, config.save_every, command_line(), file.engine)
    return Prepared(study, file, done, cohorts, Job(folder.resolve(), names, *how))


def task_reference(config: StudyConfig) -> str:
    """Return the name of a study's task, or where its file is, as any process finds it."""
    path = Path(config.task)
    return str(path.resolve()) if path.is_file() else config.task


def choose_sizes(
    study: StudyFolder, grid: Grid | RunList, execution: Execution, begun: StudyDocument | None
) -> Sizing:
    """Choose sizes for what is neither planned nor done; a study that was begun has its threads."""
    config, planned = execution.config, study.plan_files.read().cohort_of
    threads = begun.threads if begun else config.threads
    runs = [
        run
        for run in grid.runs()
        if run.identity not in planned and not (begun and study.is_done(run.identity))
    ]
    cluster = config.executor != "local"
    return size_cohorts(runs, grid.task, execution.device, threads, config.cohort, cluster=cluster)


def train_job(
    prepared: Prepared,
    execution: Execution,
    *,
    tasks: Tasks | None = None,
    thresholds: Thresholds | None = None,
    noun: str = Grid.noun,
) -> None:
    """Train until all has ended, showing how far it is; `tasks` are those that are loaded.

    A run of the job is called by the `noun`.

    Raises:
        StoppedError: a signal asked to stop, and everything is saved.
    """
    study, cohorts = prepared.study, prepared.cohorts
    if not cohorts:
        return
    run = _executor(prepared, execution, tasks or {}, noun)
    reader = ProgressReader(study, cohorts)
    before, live = reader.read(), LiveReader(study, thresholds).read
    with (
        interruptible() as interrupt,
        execution.show(before.total, "training", before.done, live) as meter,
    ):

        def on_look() -> None:
            now = reader.read()
            meter.at(", ".join(now.labels), now.done)

        try:
            run(interrupt, on_look)
            on_look()
        except StoppedEarlyError as stopped:
            raise StoppedError(interrupt.signal or 0) from stopped


def _executor(
    prepared: Prepared, execution: Execution, tasks: Tasks, noun: str
) -> Callable[[Interrupt, Callable[[], None]], None]:
    """Choose where the job is trained, and say so in a line."""
    study, cohorts, job = prepared.study, prepared.cohorts, prepared.job
    processes, seconds, executor = 0, None, execution.config.executor
    if executor == "local":
        task_of = study.plan_files.read().task_of
        tasks = dict(tasks)
        for named in {task_of(cohort) for cohort in cohorts} - tasks.keys():
            tasks[named] = load_task(*named)
        needs = [planned_bytes(cohort, tasks[task_of(cohort)]) for cohort in cohorts]
        processes = processes_for(needs, job.threads, job.device)
        if job.device == "cpu":
            left = [(one, len(study.open_runs(one)), tasks[task_of(one)]) for one in cohorts]
            seconds = seconds_to_train(left, processes, job.threads)
    where = (job.threads, executor, processes)
    line = start_line(study, cohorts, *where, seconds=seconds, noun=noun)
    execution.say(f"training {line}")
    if executor == "ray":
        from depthgauge.scheduling.on_ray.cluster import run_on_ray  # noqa: PLC0415

        return partial(run_on_ray, job, study, execution.config.address)
    return partial(run_locally, job, study, processes, tasks=tasks)


def start_line(
    study: StudyFolder,
    cohorts: list[CohortPlan],
    threads: int,
    executor: str,
    processes: int,
    *,
    seconds: float | None = None,
    noun: str = Grid.noun,
) -> str:
    """Return what is trained, where, and roughly how long it takes, if that is known.

    For example `45 runs of 30 epochs (bp, fa, dfa), roughly 60 s in 2 processes of 1 thread`.
    """
    runs = sum(len(study.open_runs(cohort)) for cohort in cohorts)
    epochs = max(cohort.recipe.epochs for cohort in cohorts)
    where = f"{counted(processes, 'process', 'processes')} of {counted(threads, 'thread')}"
    if executor != "local":
        where = f"tasks of {counted(threads, 'thread')} for {executor.capitalize()}"
    labels = list(dict.fromkeys(r.config.label for cohort in cohorts for r in cohort.rules))
    rules = ", ".join(labels) if len(labels) <= MOST_RULES else f"{len(labels)} rules"
    what = f"{counted(runs, noun)} of {counted(epochs, 'epoch')} ({rules})"
    time = "" if seconds is None else f", roughly {duration(seconds)}"
    return f"{what}{time} in {where}"
