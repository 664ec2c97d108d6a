"""Train on this machine: in this process, or in one process for each core side by side.

Small matrices keep one core busy and two cores waiting for each other: processes of one thread side
by side are faster than one process with many threads.
"""

from __future__ import annotations

import multiprocessing as mp
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import wait
from types import ModuleType
from typing import Any

import torch

from depthgauge.errors import UserError, system_sentence
from depthgauge.scheduling.interrupt import ASKING, Interrupt
from depthgauge.scheduling.worker import Job, Tasks, Worker
from depthgauge.store.study_folder import StudyFolder
from depthgauge.training.loop import StoppedEarlyError
from depthgauge.training.threads import with_threads

LOOK_EVERY = 0.5
"""Seconds between two looks at how far the workers are."""

OnLook = Callable[[], None]
"""Called now and then, to move a progress bar."""


def run_locally(
    job: Job,
    study: StudyFolder,
    processes: int,
    interrupt: Interrupt,
    on_look: OnLook,
    *,
    tasks: Tasks | None = None,
) -> None:
    """Train the job in so many processes; one is this process, which has the `tasks`."""
    if processes > 1:
        run_side_by_side(job, study, processes, interrupt, on_look)
    else:
        run_here(job, study, interrupt, on_look, tasks)


def run_here(
    job: Job,
    study: StudyFolder,
    interrupt: Interrupt,
    on_look: OnLook,
    tasks: Tasks | None = None,
) -> None:
    """Train in this process; the bar is moved by a thread beside it."""
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(LOOK_EVERY):
            on_look()

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        with with_threads(job.threads):
            Worker(job, study, interrupt, tasks).work()
    finally:
        ended.set()
        watcher.join()


def run_side_by_side(
    job: Job, study: StudyFolder, count: int, interrupt: Interrupt, on_look: OnLook
) -> None:
    """Train in `count` processes; what a dead one had begun, the others take over."""
    context = mp.get_context("spawn")
    stop, sentences = context.Event(), context.SimpleQueue()
    processes = [
        context.Process(target=_work, args=(job, stop, sentences), daemon=True)
        for _ in range(count)
    ]
    with _signals_wait(), _script_left_alone():
        for process in processes:
            process.start()
    try:
        while any(process.is_alive() for process in processes):
            wait([process.sentinel for process in processes if process.is_alive()], LOOK_EVERY)
            if interrupt():
                stop.set()
            on_look()
    finally:
        for process in processes:
            process.kill()
            process.join()
    said = []
    while not sentences.empty():
        said.append(sentences.get())
    conclude(job, study, said, interrupt)


def conclude(job: Job, study: StudyFolder, said: list[str], interrupt: Interrupt) -> None:
    """Say what the workers said, that they were asked to stop, or that they ended too early."""
    if said:
        raise UserError("; ".join(dict.fromkeys(said)))
    if interrupt():
        raise StoppedEarlyError
    if study.open_cohorts(job.cohorts):
        raise UserError(
            "every worker process ended before its time (was there enough memory?); the same "
            "command goes on from the last checkpoint"
        )


@contextmanager
def _script_left_alone() -> Iterator[None]:
    """Keep processes that are started inside the block from importing the script that is running.

    Workers need nothing of it, and a script without a main guard would run again in each.
    """
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


@contextmanager
def _signals_wait() -> Iterator[None]:
    """Signals that come inside the block are heard after it.

    What is started inside hears none until it is ready to: a Ctrl-C while it loads its modules
    would end it with a traceback.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ASKING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(job: Job, stop: Any, sentences: Any) -> None:
    """A worker process; it ends at once when its parent does."""
    own = Interrupt()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGUSR1):
        signal.signal(number, own.hear)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ASKING)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    torch.set_num_threads(job.threads)
    try:
        Worker(job, StudyFolder(job.folder), lambda: own() or stop.is_set()).work()
    except StoppedEarlyError:
        return
    except UserError as error:
        sentences.put(str(error))
    except OSError as error:
        sentences.put(system_sentence(error))


def _end_with_parent() -> None:
    parent = mp.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
