"""Contenders in processes of their own, which train on command.

The processes are forked from one that has imported everything and done nothing, so that each starts
at once.
"""

from __future__ import annotations

import multiprocessing as mp
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Generic, Protocol, TypeVar

import torch

from depthgauge.store.peak_memory import peak_memory_bytes

from .cases import Case
from .flops import CountedProducts

IMPORTED = [f"{__package__}.__main__", "torch._dynamo"]
"""The modules that the first process imports; torch's optimizers need the second one."""

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Contender(Protocol[T_co]):
    """Trains the runs of a case."""

    def __init__(self, case: Case, runs: int) -> None: ...

    def train(self, steps: int) -> T_co:
        """Train each run for some steps, and return a result."""
        ...


@dataclass(frozen=True)
class Order:
    """A command to a process: train so many steps, and answer with the result.

    With `counted`, the answer is the number of operations.
    """

    steps: int
    threads: int
    counted: bool = False


@dataclass(frozen=True)
class Memory:
    """The bytes that a process held before it had data or a network, and its peak."""

    before: int
    peak: int


def _serve(connection: Connection, kind: type[Contender[Any]], case: Case, runs: int) -> None:
    before, contender = peak_memory_bytes(), kind(case, runs)
    connection.send(None)
    while order := connection.recv():
        torch.set_num_threads(order.threads)
        if order.counted:
            with CountedProducts() as counted:
                contender.train(order.steps)
            connection.send(counted.flops)
        else:
            connection.send(contender.train(order.steps))
    connection.send(Memory(before, peak_memory_bytes()))


class Processes(Generic[T]):
    """`count` processes of a contender, all ready to train."""

    def __init__(self, kind: type[Contender[T]], case: Case, runs: int, count: int = 1) -> None:
        context = mp.get_context("forkserver")
        context.set_forkserver_preload(IMPORTED)
        self._runs, self._connections = runs, list[Connection]()
        for _ in range(count):
            ours, theirs = context.Pipe()
            context.Process(target=_serve, args=(theirs, kind, case, runs)).start()
            theirs.close()
            self._connections.append(ours)
        for connection in self._connections:
            connection.recv()

    def train(self, steps: int, *, count: int = 1, threads: int) -> list[T]:
        """Let `count` processes train at the same time, each with so many threads."""
        training = self._connections[:count]
        for connection in training:
            connection.send(Order(steps, threads))
        return [connection.recv() for connection in training]

    def flops(self) -> float:
        """Return the operations of one run-step, with its share of evaluation."""
        self._connections[0].send(Order(1, threads=1, counted=True))
        return float(self._connections[0].recv()) / self._runs

    def stop(self) -> Memory:
        """End the processes; return the memory of the one with the highest peak."""
        for connection in self._connections:
            connection.send(None)
        held: list[Memory] = [connection.recv() for connection in self._connections]
        return max(held, key=lambda memory: memory.peak)
