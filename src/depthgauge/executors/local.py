"""On this machine: one cohort after the other, or one process for each core side by side.

Small matrices keep one core busy and two cores waiting for each other, so where there are several
cohorts, one-thread processes side by side are faster than one process with many threads.
"""

from __future__ import annotations

import multiprocessing as mp
import os
import queue
import signal
import threading
import time
from collections.abc import Sequence
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

import torch

from depthgauge.errors import UserError
from depthgauge.executors.job import (
    Failure,
    Job,
    OnStep,
    Parcel,
    label_of,
    pack,
    train_or_explain,
    unpack,
)
from depthgauge.studies.plan import PlannedCohort
from depthgauge.tasks.base import Task

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess

REPORT_EVERY = 0.2
"""Seconds between two reports of a worker's progress."""


def threads_for(cohorts: int) -> int:
    """Threads for each cohort of a new study: one where there are enough cohorts for all cores."""
    cores = torch.get_num_threads()
    return cores // min(cores, cohorts)


def run_locally(
    job: Job, cohorts: Sequence[PlannedCohort], task: Task, on_step: OnStep
) -> list[Failure]:
    """Train the cohorts on as many cores as there are, or on the GPU."""
    workers = min(torch.get_num_threads() // job.threads, len(cohorts))
    if workers > 1 and job.device == "cpu":
        return run_side_by_side(job, cohorts, workers, on_step)
    return run_here(job, cohorts, task, on_step)


def run_here(
    job: Job, cohorts: Sequence[PlannedCohort], task: Task, on_step: OnStep
) -> list[Failure]:
    """Train the cohorts one after the other in this process."""
    torch.set_num_threads(job.threads)
    results = [train_or_explain(job, cohort, task, on_step) for cohort in cohorts]
    return [failure for failure in results if failure is not None]


def run_side_by_side(
    job: Job, cohorts: Sequence[PlannedCohort], workers: int, on_step: OnStep
) -> list[Failure]:
    """Train the cohorts in `workers` processes; each takes the next cohort when it is free."""
    context = mp.get_context("spawn")
    tasks, reports = context.SimpleQueue(), context.Queue()
    for number, cohort in enumerate(cohorts):
        tasks.put((number, pack(cohort)))
    for _ in range(workers):
        tasks.put(None)
    processes = [
        context.Process(target=_work, args=(job, tasks, reports), daemon=True)
        for _ in range(workers)
    ]
    for process in processes:
        process.start()
    try:
        return _collect(cohorts, processes, reports, on_step)
    finally:
        for process in processes:
            process.kill()
            process.join()


def _collect(
    cohorts: Sequence[PlannedCohort],
    processes: Sequence[SpawnProcess],
    reports: mp.Queue[Any],
    on_step: OnStep,
) -> list[Failure]:
    """Pass progress on until every cohort has ended, or every worker has."""
    open_cohorts, failures = set(range(len(cohorts))), []
    while open_cohorts:
        alive = any(process.is_alive() for process in processes)
        try:
            kind, *content = reports.get(timeout=1.0)
        except queue.Empty:
            if alive:
                continue
            break
        if kind == "steps":
            on_step(*content)
        else:
            number, failure = content
            open_cohorts.discard(number)
            failures += [failure] if failure is not None else []
    lost = [cohorts[number] for number in sorted(open_cohorts)]
    return failures + [
        Failure(label_of(cohort), len(cohort), "its worker process ended unexpectedly")
        for cohort in lost
    ]


def _work(job: Job, tasks: Any, reports: Any) -> None:
    """A worker: takes cohorts until there are none; ends at once when its parent does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    torch.set_num_threads(job.threads)
    said_at, pending = time.monotonic(), 0

    def on_step(label: str, run_steps: int) -> None:
        nonlocal said_at, pending
        pending += run_steps
        if time.monotonic() - said_at >= REPORT_EVERY:
            reports.put(("steps", label, pending))
            said_at, pending = time.monotonic(), 0

    while True:
        parcel: tuple[int, Parcel] | None = tasks.get()
        if parcel is None:
            return
        number, content = parcel
        try:
            failure = train_or_explain(job, unpack(content), job.load_task(), on_step)
        except UserError as error:
            failure = Failure(content[0][1], len(content), str(error))
        reports.put(("ended", number, failure))


def _end_with_parent() -> None:
    parent = mp.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
