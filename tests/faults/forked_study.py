"""A study in a child process that is killed with SIGKILL at a chosen file operation or moment.

The child is forked from this process, which has everything loaded: a start costs milliseconds. So
are its worker processes, where it has any.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import pathlib
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
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


def finish(folder: Path, kind: Kind = SHORT) -> int:
    """Run the study to its end in a child; its exit status."""
    return _in_child(folder, kind, Operations(NEVER))


def kill_at_operation(folder: Path, number: int, kind: Kind = SHORT) -> bool:
    """Kill the study before its file operation of that number; False if it ended before."""
    return _in_child(folder, kind, Operations(number)) == -signal.SIGKILL


def kill_after(folder: Path, seconds: float, kind: Kind = SHORT) -> bool:
    """Kill the study after some time; False if it ended before."""
    child = _start(folder, kind, Operations(NEVER))
    ended = _wait(child, seconds)
    if not ended:
        _kill(child)
    return not ended


def kill_when(folder: Path, happened: Callable[[], bool], kind: Kind = SHORT) -> bool:
    """Kill the study as soon as something has happened; False if it ended before."""
    child = _start(folder, kind, Operations(NEVER))
    ended = False
    while not ended and not happened():
        ended = _wait(child, 0.002)
    if not ended:
        _kill(child)
    return not ended


def kill_workers_at_operation(folder: Path, number: int, kind: Kind = SHORT) -> int:
    """Kill each of two workers before its file operation of that number; how many were killed."""
    reader, writer = os.pipe()
    child = _start(folder, kind, Operations(number, writer), workers=2)
    os.close(writer)
    os.waitpid(child, 0)
    killed = len(os.read(reader, 32))
    os.close(reader)
    return killed


def kill_worker_after(folder: Path, seconds: float, kind: Kind = SHORT) -> bool:
    """Kill one of two workers some time after it started, and all that is left a little later.

    False if the study ended before.
    """
    child = _start(folder, kind, Operations(NEVER), workers=2)
    ended, workers = False, []
    while not ended and not workers:
        ended = _wait(child, 0.01)
        workers = [] if ended else psutil.Process(child).children()
    ended = ended or _wait(child, seconds)
    alive = [worker for worker in workers if not ended and worker.is_running()]
    if alive:
        alive[0].kill()
        ended = _wait(child, 0.05)
    if not ended:
        _kill(child)
    return bool(alive)


def _wait(child: int, seconds: float) -> bool:
    """Whether it has ended by then."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if os.waitpid(child, os.WNOHANG)[0]:
            return True
        time.sleep(0.002)
    return False


def _kill(child: int) -> None:
    """The process and, as a machine that dies would, its workers."""
    family = [psutil.Process(child), *psutil.Process(child).children()]
    for process in family:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    os.waitpid(child, 0)
    psutil.wait_procs(family[1:])


def count_operations(folder: Path, kind: Kind = SHORT) -> int:
    """How many file operations the whole study takes."""
    reader, writer = os.pipe()
    counter = Operations(NEVER)
    child = _start(folder, kind, counter, lambda: os.write(writer, str(counter.count).encode()))
    os.waitpid(child, 0)
    os.close(writer)
    count = int(os.read(reader, 32))
    os.close(reader)
    return count


class Operations:
    """Counts writes, syncs, renames, links and removals; the last one is not survived.

    Those who die there write a byte to `deaths`, if it is given: they are workers then, and the
    process that started them lives on.
    """

    def __init__(self, last: int, deaths: int | None = None) -> None:
        self.last, self.count, self.deaths = last, 0, deaths

    def watch(self) -> None:
        """From now on, here. Syncs count but do nothing: a kill loses no written page."""
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
        if multiprocessing.parent_process() is None:
            return False
        os.write(self.deaths, b".")
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


def _in_child(folder: Path, kind: Kind, operations: Operations) -> int:
    _, status = os.waitpid(_start(folder, kind, operations), 0)
    return os.waitstatus_to_exitcode(status)


def _start(
    folder: Path,
    kind: Kind,
    operations: Operations,
    then: Callable[[], object] = lambda: None,
    workers: int = 1,
) -> int:
    torch.set_num_threads(1)
    for slow in ("torch._dynamo", "depthgauge.report.charts.ladder"):
        importlib.import_module(slow)
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    status = 70
    try:
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        operations.watch()
        fork = multiprocessing.get_context("fork")
        local.mp.get_context = lambda kind: fork
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:workers])  # a process for each
        status = main(kind.arguments(folder))
        then()
    finally:
        os._exit(status)
