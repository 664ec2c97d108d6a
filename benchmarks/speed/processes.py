"""Contenders in processes of their own, one or one for each core, that train when they are told."""

from __future__ import annotations

import multiprocessing as mp
from multiprocessing.connection import Connection
from typing import Protocol

import torch

from depthgauge.store.peak_memory import peak_memory_bytes

from .cases import Case


class Contender(Protocol):
    """Trains the runs of a case."""

    def __init__(self, case: Case, runs: int) -> None: ...

    def train(self, steps: int) -> int:
        """Each run for some steps; the number of run-steps."""
        ...


def _serve(
    connection: Connection, kind: type[Contender], case: Case, runs: int, threads: int
) -> None:
    torch.set_num_threads(threads)
    contender = kind(case, runs)
    contender.train(1)
    connection.send(peak_memory_bytes())
    while steps := connection.recv():
        connection.send(contender.train(steps))
    connection.send(peak_memory_bytes())


class Processes:
    """So many processes of a contender, which train at the same time."""

    def __init__(
        self, kind: type[Contender], case: Case, runs: int, *, processes: int, threads: int
    ) -> None:
        context, self._connections = mp.get_context("spawn"), list[Connection]()
        for _ in range(processes):
            ours, theirs = context.Pipe()
            given = (theirs, kind, case, runs, threads)
            context.Process(target=_serve, args=given).start()
            self._connections.append(ours)
        for connection in self._connections:
            connection.recv()

    def train(self, steps: int) -> int:
        """Let all of them train; the number of run-steps."""
        for connection in self._connections:
            connection.send(steps)
        return sum(connection.recv() for connection in self._connections)

    def stop(self) -> int:
        """End them; the most memory that one of them held."""
        for connection in self._connections:
            connection.send(0)
        return max(connection.recv() for connection in self._connections)
