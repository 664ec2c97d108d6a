"""How cost and memory grow with runs, batch, width, depth, samples and epochs.

Along each axis all sizes are measured alternately, each in a process of its own with one thread.
The exponent is the slope of the least-squares line through log cost over log size, taken round by
round: its median is given with its range.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .axes import Axis
from .cases import Case
from .crew import Crew
from .middle import Middle
from .processes import Processes
from .training import Training

SHARE_OF_SECONDS = 0.5
"""Sizes are not compared with other contenders: so much of the time of a slice is enough."""


@dataclass(frozen=True)
class Point:
    """One size of an axis: who is measured, for how many steps, and what that is divided by."""

    crew: Crew
    steps: int
    parts: int

    @staticmethod
    def of(axis: Axis, size: int, seconds: float) -> Point:
        """Steps for about so many seconds, of which one is the cost; or all of a training."""
        case = axis.at(size)
        crew = Crew(Processes(axis.contender, case, axis.runs(size)), count=1, threads=1)
        if axis.contender is Training:
            return Point(crew, case.epoch_steps, 1)
        steps = crew.steps_in(SHARE_OF_SECONDS * seconds)
        return Point(crew, steps, steps)

    def cost(self) -> float:
        """In seconds."""
        return self.crew.seconds(self.steps) / self.parts


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The slope of log cost over log size."""
    logs = [math.log(size) for size in sizes], [math.log(cost) for cost in costs]
    return statistics.linear_regression(*logs).slope


def measure(
    case: Case,
    axis: Axis,
    rounds: int,
    seconds: float,
    on_round: Callable[[], None],
) -> dict[str, Any]:
    """Cost at every size in every round; steps are measured for about so many seconds."""
    points, costs = [Point.of(axis, size, seconds) for size in axis.sizes], list[list[float]]()
    for _ in range(rounds):
        costs.append([point.cost() for point in points])
        on_round()
    memory = [point.crew.processes.stop() for point in points]
    beyond = [one.peak - one.before for one in memory]
    return {
        "rule": case.rule,
        "axis": axis.name,
        "held": axis.held,
        "cost_of": "a training" if axis.contender is Training else "a step",
        "sizes": list(axis.sizes),
        "seconds": costs,
        "exponents": [exponent(axis.sizes, found) for found in costs],
        "memory_bytes": [one.peak for one in memory],
        "memory_beyond_an_empty_process": beyond,
        "memory_exponent": exponent(axis.sizes, beyond),
    }


def text(result: dict[str, Any]) -> str:
    """One axis as a table."""
    what = f"{result['rule']}: cost of {result['cost_of']} against {result['axis']}"
    lines = [f"{what} ({result['held']})"]
    by_size = zip(*result["seconds"], strict=True)
    for size, seconds, memory in zip(result["sizes"], by_size, result["memory_bytes"], strict=True):
        lines.append(f"  {size:7,}  {Middle.of(seconds):.3g} s, {memory / 2**20:5.0f} MB")
    lines.append(
        f"  exponent {Middle.of(result['exponents']):.2f}; of memory beyond an empty process "
        f"{result['memory_exponent']:.2f}"
    )
    return "\n".join(lines)
