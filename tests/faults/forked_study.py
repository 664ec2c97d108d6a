"""A study in a child process that is killed with SIGKILL at a chosen file operation or moment.

The child is forked from a process of its own that has loaded everything, so a start costs
milliseconds. The test's own process is not forked: it may have drawn charts before, and the thread
that draws them would be missing in a child.
"""

from __future__ import annotations

import multiprocessing
import os
import pathlib
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import psutil
import torch

from depthgauge.cli.main import main
from depthgauge.scheduling import local

RUNGS = ("ladder", "--no-twins", "--width", "4", "--depth", "1", "--batch-size", "4000")
"""Two steps an epoch, and no runs but those that were asked for."""

WITH_TWINS = ("audit", "--task", "digits", "--width", "16", "--depth", "2")


@dataclass(frozen=True)
class Kind:
    """What is trained: rules × k × seeds, and what their ladders call for."""

    epochs: int
    rules: tuple[str, ...] = ("bp", "dfa", "fa")
    ks: tuple[str, ...] = ("0", "1")
    seeds: tuple[str, ...] = ("1", "2", "3", "4")
    command: tuple[str, ...] = RUNGS
    called_for: int = 0

    @property
    def runs(self) -> int:
        return len(self.rules) * len(self.ks) * len(self.seeds) + self.called_for

    def arguments(self, folder: Path) -> list[str]:
        return [
            *(*self.command, "--rules", *self.rules, "--k", *self.ks, "--seeds", *self.seeds),
            *("--epochs", str(self.epochs), "--save-every", "0", "--threads", "1"),
            *("--no-floors", "--json", "--out", str(folder)),
        ]


SHORT, LONG = Kind(3), Kind(15)
SMALL = Kind(2, rules=("bp", "dfa"), ks=("1",), seeds=("1", "2"))
"""Has every kind of file operation, and not many of each."""
AUDIT = Kind(3, ("bp", "dfa"), ("0", "1", "2"), ("1", "2", "3"), WITH_TWINS)
"""Rungs, swap twins and noise runs, one stage after the other."""

NEVER = sys.maxsize

SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(
    ["torch._dynamo", "depthgauge.report.charts.ladder", "faults.forked_study"]
)


def finish(folder: Path, kind: Kind = SHORT) -> int | None:
    """Run the study to its end in a child; return its exit status."""
    return _exit_status(_start(folder, kind, Operations(NEVER)))


def kill_at_operation(folder: Path, number: int, kind: Kind = SHORT) -> bool:
    """Kill the study before its file operation of that number; False if it ended before."""
    return _exit_status(_start(folder, kind, Operations(number))) == -signal.SIGKILL


def kill_after(folder: Path, seconds: float, kind: Kind = SHORT) -> bool:
    """Kill the study after some time; False if it ended before."""
    child = _start(folder, kind, Operations(NEVER))
    ended = _has_ended(child, seconds)
    if not ended:
        _kill(child)
    return not ended


def kill_when(folder: Path, happened: Callable[[], bool], kind: Kind = SHORT) -> bool:
    """Kill the study as soon as something has happened; False if it ended before."""
    child = _start(folder, kind, Operations(NEVER))
    ended = False
    while not ended and not happened():
        ended = _has_ended(child, 0.002)
    if not ended:
        _kill(child)
    return not ended


def kill_workers_at_operation(folder: Path, number: int, kind: Kind = SHORT) -> int:
    """Kill each of two workers before its file operation of that number; how many were killed."""
    reader, writer = SERVER.Pipe(duplex=False)
    child = _start(folder, kind, Operations(number, writer), workers=2)
    writer.close()
    _exit_status(child)
    killed = len(os.read(reader.fileno(), 32))
    reader.close()
    return killed


def kill_worker_after(folder: Path, seconds: float, kind: Kind = SHORT) -> bool:
    """Kill one of two workers some time after it started, and all that is left a little later.

    False if the study ended before.
    """
    child = _start(folder, kind, Operations(NEVER), workers=2)
    ended, workers = False, []
    while not ended and not workers:
        ended = _has_ended(child, 0.01)
        workers = [] if ended else _children(child)
    ended = ended or _has_ended(child, seconds)
    alive = [worker for worker in workers if not ended and worker.is_running()]
    if alive:
        alive[0].kill()
        ended = _has_ended(child, 0.05)
    if not ended:
        _kill(child)
    return bool(alive)


def _exit_status(child: BaseProcess) -> int | None:
    child.join()
    return child.exitcode


def _has_ended(child: BaseProcess, seconds: float) -> bool:
    """Wait for the child's end, but not longer; return whether it has ended."""
    child.join(seconds)
    return child.exitcode is not None


def _children(child: BaseProcess) -> list[psutil.Process]:
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(child.pid).children()
    return []


def _kill(child: BaseProcess) -> None:
    """Kill the process and, as a machine that dies would, its workers."""
    workers = _children(child)
    child.kill()
    for worker in workers:
        with suppress(psutil.NoSuchProcess):
            worker.kill()
    child.join()
    psutil.wait_procs(workers)


def count_operations(folder: Path, kind: Kind = SHORT) -> int:
    """Return how many file operations the whole study takes."""
    reader, writer = SERVER.Pipe(duplex=False)
    child = _start(folder, kind, Operations(NEVER), count_to=writer)
    writer.close()
    count = reader.recv()
    _exit_status(child)
    assert isinstance(count, int)
    return count


class Operations:
    """Counts writes, syncs, renames, links and removals; the last one is not survived.

    Those who die there write a byte to `deaths`, if it is given: they are workers then, and the
    process that started them lives on.
    """

    def __init__(self, last: int, deaths: Connection | None = None) -> None:
        self.last, self.count, self.deaths = last, 0, deaths
        self._watcher = 0

    def watch(self) -> None:
        """From now on, here. Syncs count but do nothing: a kill loses no written page."""
        self._watcher = os.getpid()
        os.fsync = self._counted(lambda handle: None)
        for name in ("replace", "link", "unlink", "mkdir"):
            setattr(os, name, self._counted(getattr(os, name)))
        pathlib.Path.write_bytes = self._counted(pathlib.Path.write_bytes, _half_of_bytes)
        pathlib.Path.write_text = self._counted(pathlib.Path.write_text, _half_of_text)
        pathlib.Path.open = self._opened(pathlib.Path.open)

    def _counted(
        self, real: Callable[..., Any], instead: Callable[..., None] | None = None
    ) -> Callable[..., Any]:
        def operation(*args: Any, **kwargs: Any) -> Any:
            self.count += 1
            if self.count >= self.last and self._is_to_die():
                if instead is not None:
                    instead(*args)
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **kwargs)

        return operation

    def _is_to_die(self) -> bool:
        if self.deaths is None:
            return True
        if os.getpid() == self._watcher:
            return False
        os.write(self.deaths.fileno(), b".")
        return True

    def _opened(self, real: Callable[..., Any]) -> Callable[..., Any]:
        """Files that are appended to: their writes count, and the last one is cut in the middle."""

        def open_file(path: Path, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
            handle = real(path, mode, *args, **kwargs)
            if mode == "a":
                whole = handle.write

                def half(text: str) -> None:
                    whole(text[: len(text) // 2])
                    handle.flush()

                handle.write = self._counted(whole, half)
            return handle

        return open_file


def _half_of_bytes(path: Path, content: bytes) -> None:
    with open(path, "wb") as handle:
        handle.write(content[: len(content) // 2])


def _half_of_text(path: Path, content: str, *_: object) -> None:
    _half_of_bytes(path, content.encode())


def _start(
    folder: Path,
    kind: Kind,
    operations: Operations,
    workers: int = 1,
    count_to: Connection | None = None,
) -> BaseProcess:
    child = SERVER.Process(target=_train, args=(folder, kind, operations, workers, count_to))
    child.start()
    return child


def _train(
    folder: Path, kind: Kind, operations: Operations, workers: int, count_to: Connection | None
) -> None:
    """Run the study in this process, and end the process with the command's status."""
    status = 70
    try:
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        torch.set_num_threads(1)
        operations.watch()
        fork = multiprocessing.get_context("fork")
        local.mp.get_context = lambda kind: fork
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:workers])  # a process for each
        status = main(kind.arguments(folder))
        if count_to is not None:
            count_to.send(operations.count)
    finally:
        os._exit(status)
