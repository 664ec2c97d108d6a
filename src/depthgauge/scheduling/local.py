"""Train on this machine: in this process, or in several processes at once.

The matrices are small, so two threads mostly wait for each other. Several processes of one thread
each are therefore faster than one process of several threads.
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
from depthgauge.training.threads import use_threads

LOOK_EVERY = 0.5
"""Seconds between two updates of the progress bar."""

OnLook = Callable[[], None]
"""A function that updates the progress bar."""


def run_locally(
    job: Job,
    study: StudyFolder,
    processes: int,
    interrupt: Interrupt,
    on_look: OnLook,
    *,
    tasks: Tasks | None = None,
) -> None:
    """Train the job in `processes` worker processes, or in this process if the number is one.

    `tasks` are tasks that this process has already loaded. Worker processes load tasks themselves.
    """
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
    """Train in this process; a thread updates the progress bar."""
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(LOOK_EVERY):
            on_look()

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        with use_threads(job.threads):
            Worker(job, study, interrupt, tasks).work()
    finally:
        ended.set()
        watcher.join()


def run_side_by_side(
    job: Job, study: StudyFolder, count: int, interrupt: Interrupt, on_look: OnLook
) -> None:
    """Train in `count` worker processes; if one dies, the other processes take over its cohorts."""
    context = mp.get_context("spawn")
    stop, sentences = context.Event(), context.SimpleQueue()
    processes = [
        context.Process(target=_work, args=(job, stop, sentences), daemon=True)
        for _ in range(count)
    ]
    with _signals_blocked(), _without_main_script():
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
    """Raise an error if the workers reported errors, were stopped, or died.

    `said` has the errors that the workers reported.
    """
    if said:
        raise UserError("; ".join(dict.fromkeys(said)))
    if interrupt():
        raise StoppedEarlyError
    if study.open_cohorts(job.cohorts):
        raise UserError(
            "every worker process died before its work was done, perhaps for lack of memory; run "
            "the same command again to continue from the last checkpoint"
        )


@contextmanager
def _without_main_script() -> Iterator[None]:
    """Keep processes that are started inside the `with` block from importing the main script.

    Workers do not need the main script. A script without `if __name__ == "__main__"` would run
    again in every worker.
    """
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """Block signals until the end of the `with` block.

    A process that is started inside the block begins with blocked signals. Otherwise a Ctrl-C would
    end the new process with a traceback while it imports its modules.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ASKING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(job: Job, stop: Any, sentences: Any) -> None:
    """Train the job in a worker process, which ends at once if its parent process ends."""
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
