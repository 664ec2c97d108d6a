"""Train the remaining runs of a study: open its folder, plan the runs, and start an executor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from depthgauge.config import NetConfig, Recipe
from depthgauge.errors import StoppedError, UserError
from depthgauge.number_format import counted, duration
from depthgauge.scheduling.cohorts import plan_runs
from depthgauge.scheduling.grid import Grid, RunList
from depthgauge.scheduling.interrupt import Interrupt, interruptible
from depthgauge.scheduling.live_status import LiveReader, LiveRule
from depthgauge.scheduling.local import run_locally
from depthgauge.scheduling.memory_estimate import planned_bytes
from depthgauge.scheduling.progress import ProgressReader
from depthgauge.scheduling.resources import choose_device
from depthgauge.scheduling.sizing import Sizing, processes_for, size_cohorts
from depthgauge.scheduling.slurm import Submitted, write_job
from depthgauge.scheduling.time_estimate import seconds_to_train
from depthgauge.scheduling.worker import Job, Tasks
from depthgauge.store.done_runs import DoneRun, read_done_runs
from depthgauge.store.network_sources import save_loss, save_source
from depthgauge.store.plan_files import CohortPlan
from depthgauge.store.provenance import command_line
from depthgauge.store.study_folder import StudyDocument, StudyFolder
from depthgauge.study_config import StudyConfig
from depthgauge.tasks.registry import load_task
from depthgauge.training.loop import StoppedEarlyError
from depthgauge.verdict.thresholds import Thresholds


class Meter(Protocol):
    """Shows the progress of work as it goes on."""

    def at(self, label: str, done: int) -> None:
        """Show the number of finished steps, and a label for the present work."""
        ...


class ShowProgress(Protocol):
    """A function that returns a context manager, which shows progress while it is open."""

    def __call__(
        self, total: int, doing: str, done: int, status: Callable[[], list[LiveRule]]
    ) -> AbstractContextManager[Meter]:
        """Show progress over `total` steps, of which `done` are already done.

        `doing` is a word for the work; `status` returns the live status of each rule.
        """
        ...


MOST_RULES = 8
"""The line before training lists at most this many rules by name."""


@dataclass(frozen=True)
class Execution:
    """Where and how to train: the options of the user, and the functions that show progress.

    Attributes:
        config: has the executor, the device, the threads, and the seconds between checkpoints.
        say: is called with a line that says what will be trained.
        show: shows progress during training.
    """

    config: StudyConfig
    say: Callable[[str], None]
    show: ShowProgress

    @property
    def device(self) -> str:
        """The device that is used on this machine."""
        return choose_device(self.config.device, self.config.executor)


@dataclass(frozen=True)
class Prepared:
    """A study whose folder is open and whose plan is written.

    Attributes:
        study: the study's folder, with its plan.
        file: the content of its `study.json`.
        done: the runs that were done before, by identity.
        cohorts: the cohorts that have unfinished runs.
        job: the job that trains these cohorts.
    """

    study: StudyFolder
    file: StudyDocument
    done: Mapping[str, DoneRun]
    cohorts: list[CohortPlan]
    job: Job


def check_executor(executor: str) -> None:
    """Refuse the executor ray if Ray is not installed."""
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
    """Train the remaining runs of a grid; the executor slurm writes a job instead of training.

    Return the prepared study and the Slurm job; the job is None with any other executor.

    Args:
        grid: the runs.
        folder: the study's folder.
        execution: where and how to train.
        networks: also read the networks of finished runs with all blocks trained; a run whose
            network is damaged is trained again.
        thresholds: the thresholds beyond which progress shows an alarm.
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
    """Open the study's folder, put damaged files aside, and add missing runs to the plan."""
    config, device, study = execution.config, execution.device, StudyFolder(folder)
    kind = device.partition(":")[0]
    existing = study.check(grid.base, kind, config.threads, config.engine)
    sizing = choose_sizes(study, grid, execution, existing)
    file = existing or study.open(grid.base, kind, config.threads, sizing.threads, config.engine)
    if file.threads != sizing.threads:  # another command wrote study.json at the same time
        sizing = choose_sizes(study, grid, execution, file)
    save_source(study.path, grid.base.net or NetConfig())
    save_loss(study.path, grid.base.recipe or Recipe())
    done = read_done_runs(study, ((run.config, networks and run.is_full) for run in grid.runs()))
    planned = plan_runs(
        study, grid, task_reference(config), config.validation, sizing.runs, done=done
    )
    cohorts = [cohort for cohort in planned if study.has_open_runs(cohort, done)]
    names = tuple(cohort.name for cohort in cohorts)
    how = (device, file.threads, config.save_every, command_line(), file.engine)
    return Prepared(study, file, done, cohorts, Job(folder.resolve(), names, *how))


def task_reference(config: StudyConfig) -> str:
    """Return the user's text for the task; if it is the path of a file, make it absolute."""
    path = Path(config.task)
    return str(path.resolve()) if path.is_file() else config.task


def choose_sizes(
    study: StudyFolder, grid: Grid | RunList, execution: Execution, existing: StudyDocument | None
) -> Sizing:
    """Choose the size of cohorts for the runs that are neither planned nor done.

    If the study exists, its `study.json` fixes the number of threads.
    """
    config, planned = execution.config, study.plan_files.read().cohort_of
    threads = existing.threads if existing else config.threads
    runs = [
        run
        for run in grid.runs()
        if run.identity not in planned and not (existing and study.is_done(run.identity))
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
    """Train all cohorts of a prepared study, and show progress.

    Args:
        prepared: the study and its job.
        execution: where and how to train.
        tasks: tasks that are already loaded.
        thresholds: the thresholds beyond which progress shows an alarm.
        noun: the word for one run, such as `run` or `swap twin`.

    Raises:
        StoppedError: a signal stopped the training; everything is saved.
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
    """Print one line about the training to come, and return the function that does the training."""
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
    """Return a line that says what is trained, where, and roughly how long it takes, if known.

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
