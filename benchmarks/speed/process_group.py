"""The processes of a contender that train at the same time."""

from __future__ import annotations

import time
from dataclasses import dataclass

from .processes import Processes


@dataclass(frozen=True)
class ProcessGroup:
    """`count` processes, each with `threads` threads."""

    processes: Processes[int]
    count: int
    threads: int

    def train(self, steps: int) -> int:
        """Train so many steps in each process; return the number of run-steps."""
        return sum(self.processes.train(steps, count=self.count, threads=self.threads))

    def seconds(self, steps: int) -> float:
        """Train, and return the seconds that it takes."""
        began = time.perf_counter()
        self.train(steps)
        return time.perf_counter() - began

    def steps_in(self, seconds: float) -> int:
        """Return how many steps, at least two, take about so long."""
        self.train(1)  # the first step is slower than the others
        return max(2, round(seconds / self.seconds(1)))
