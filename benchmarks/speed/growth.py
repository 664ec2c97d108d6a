"""The growth of cost and memory with runs, batch, width, depth, samples and epochs.

Along each axis the sizes take turns, each in a process of its own with one thread. The exponent is
the slope of the least-squares line of log cost over log size. It is computed for every round, and
given as a median with its range.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .axes import Axis
from .cases import Case
from .median_range import MedianRange
from .process_group import ProcessGroup
from .processes import Processes
from .training import Training

SHARE_OF_SECONDS = 0.5
"""The share of `--seconds` for a turn here: sizes are not compared with other contenders."""


@dataclass(frozen=True)
class Point:
    """One size of an axis.

    Attributes:
        group: the process that is measured.
        steps: the steps of a turn.
        parts: the number by which the time of a turn is divided to give the cost.
    """

    group: ProcessGroup
    steps: int
    parts: int

    @staticmethod
    def of(axis: Axis, size: int, seconds: float) -> Point:
        """Return a point whose cost is that of one step, or of a whole training."""
        case = axis.at(size)
        group = ProcessGroup(Processes(axis.contender, case, axis.runs(size)), count=1, threads=1)
        if axis.contender is Training:
            return Point(group, case.epoch_steps, 1)
        steps = group.steps_in(SHARE_OF_SECONDS * seconds)
        return Point(group, steps, steps)

    def cost(self) -> float:
        """Measure the cost in seconds."""
        return self.group.seconds(self.steps) / self.parts


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """Return the slope of log cost over log size."""
    logs = [math.log(size) for size in sizes], [math.log(cost) for cost in costs]
    return statistics.linear_regression(*logs).slope


def measure(
    case: Case,
    axis: Axis,
    rounds: int,
    seconds: float,
    on_round: Callable[[], None],
) -> dict[str, Any]:
    """Return the cost at every size for every round; a turn takes about so many seconds."""
    points, costs = [Point.of(axis, size, seconds) for size in axis.sizes], list[list[float]]()
    for _ in range(rounds):
        costs.append([point.cost() for point in points])
        on_round()
    memory = [point.group.processes.stop() for point in points]
    beyond = [process.peak - process.before for process in memory]
    return {
        "rule": case.rule,
        "axis": axis.name,
        "held": axis.held,
        "cost_of": "a training" if axis.contender is Training else "a step",
        "sizes": list(axis.sizes),
        "seconds": costs,
        "exponents": [exponent(axis.sizes, by_size) for by_size in costs],
        "memory_bytes": [process.peak for process in memory],
        "memory_beyond_an_empty_process": beyond,
        "memory_exponent": exponent(axis.sizes, beyond),
    }


def text(result: dict[str, Any]) -> str:
    """Write one axis as a table."""
    what = f"{result['rule']}: cost of {result['cost_of']} against {result['axis']}"
    lines = [f"{what} ({result['held']})"]
    by_size = zip(*result["seconds"], strict=True)
    for size, seconds, memory in zip(result["sizes"], by_size, result["memory_bytes"], strict=True):
        lines.append(f"  {size:7,}  {MedianRange.of(seconds):.3g} s, {memory / 2**20:5.0f} MB")
    lines.append(
        f"  exponent {MedianRange.of(result['exponents']):.2f}; of memory beyond an empty process "
        f"{result['memory_exponent']:.2f}"
    )
    return "\n".join(lines)
