"""How long a step of a cohort takes, by a short measurement at two sizes.

    seconds of a step = fixed + run · (runs of the cohort)

Both sizes are timed alternately, and the quickest of each counts: what disturbs a measurement only
ever makes it longer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from depthgauge.config import Engine
from depthgauge.studies.plan import PlannedRun
from depthgauge.studies.trial import Trial
from depthgauge.tasks.base import Task

FEW, MANY = 2, 8
"""Runs of the cohorts that are timed; the fit holds for three times as many."""

STEPS = 4
"""Timed of each, after one that is not."""


@dataclass(frozen=True)
class Pace:
    """Of cohorts of one kind, with some number of threads."""

    fixed: float
    run: float

    def step(self, runs: int) -> float:
        """Seconds of a step of so many runs."""
        return self.fixed + self.run * runs


def measure_paces(
    runs: Sequence[PlannedRun],
    task: Task,
    device: str,
    engine: Engine,
    threads: Sequence[int],
    fitting: int,
) -> dict[int, Pace]:
    """Of runs that are trained together, for each number of threads; at most `fitting` at once."""
    many = min(MANY, len(runs), fitting)
    few = min(FEW, max(1, many - 1))
    trials = {size: _trial(runs, size, task, device, engine) for size in dict.fromkeys((few, many))}
    before = torch.get_num_threads()
    try:
        return {number: _pace(trials, number) for number in threads}
    finally:
        torch.set_num_threads(before)


def _trial(
    runs: Sequence[PlannedRun], size: int, task: Task, device: str, engine: Engine
) -> Trial:
    """A cohort of so many of the runs, from its whole range of k."""
    last = len(runs) - 1
    places = [round(number * last / max(1, size - 1)) for number in range(size)]
    chosen = sorted((runs[place] for place in places), key=lambda run: -run.k)
    rules = [run.choice.build() for run in chosen]
    return Trial([run.config for run in chosen], rules, task, device, engine)


def _pace(trials: dict[int, Trial], threads: int) -> Pace:
    torch.set_num_threads(threads)
    times: dict[int, list[float]] = {size: [] for size in trials}
    for _ in range(STEPS + 1):
        for size, trial in trials.items():
            times[size].append(trial.step())
    return fitted({size: min(found[1:]) for size, found in times.items()})


def fitted(seconds: dict[int, float]) -> Pace:
    """The line through one or two sizes; neither part is negative."""
    few, many = min(seconds), max(seconds)
    if few == many:
        return Pace(0.0, seconds[few] / few)
    run = (seconds[many] - seconds[few]) / (many - few)
    run = min(max(run, 0.0), seconds[many] / many)
    return Pace(seconds[many] - run * many, run)
