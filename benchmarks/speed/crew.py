"""Those of a contender's processes that train at once."""

from __future__ import annotations

import time
from dataclasses import dataclass

from .processes import Processes


@dataclass(frozen=True)
class Crew:
    """`count` processes, each with so many threads."""

    processes: Processes[int]
    count: int
    threads: int

    def train(self, steps: int) -> int:
        """The number of run-steps they make."""
        return sum(self.processes.train(steps, count=self.count, threads=self.threads))

    def seconds(self, steps: int) -> float:
        """How long they take."""
        began = time.perf_counter()
        self.train(steps)
        return time.perf_counter() - began

    def steps_in(self, seconds: float) -> int:
        """How many steps, at least two, take about so long; the first is not like the others."""
        self.train(1)
        return max(2, round(seconds / self.seconds(1)))
