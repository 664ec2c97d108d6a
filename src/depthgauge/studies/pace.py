"""How long a step of a cohort takes, by a short measurement at two sizes.

    seconds of a step = fixed + run · (runs of the cohort)

Both sizes are timed alternately, and the quickest of each counts: what disturbs a measurement only
ever makes it longer.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from depthgauge.config import Engine
from depthgauge.studies.plan import PlannedRun
from depthgauge.studies.trial import Trial
from depthgauge.tasks.base import Task
from depthgauge.training.threads import with_threads

FEW, MANY = 2, 6
"""Runs of the cohorts that are timed."""

ROUNDS, LONG_ENOUGH, TOO_LONG = 3, 0.2, 2.0
"""How often each is timed at least, the seconds for which it is timed, and those after which once
is enough."""


@dataclass(frozen=True)
class Pace:
    """Of cohorts of one kind, with some number of threads."""

    fixed: float
    run: float

    def step(self, runs: int) -> float:
        """Seconds of a step of so many runs."""
        return self.fixed + self.run * runs


def measure_paces(
    runs: Sequence[PlannedRun], task: Task, device: str, engine: Engine, threads: Sequence[int]
) -> dict[int, Pace]:
    """Of runs that can be trained together, as they are here: for each number of threads."""
    many = min(MANY, len(runs))
    sizes = dict.fromkeys((min(FEW, max(1, many - 1)), many))
    trials = {size: _trial(spread_out(runs, size), task, device, engine) for size in sizes}
    return {number: _pace(trials, number) for number in threads}


def spread_out(runs: Sequence[PlannedRun], size: int) -> list[PlannedRun]:
    """So many of the runs, from their whole range of k, which falls."""
    last = len(runs) - 1
    places = [round(number * last / max(1, size - 1)) for number in range(size)]
    return sorted((runs[place] for place in places), key=lambda run: -run.k)


def _trial(runs: Sequence[PlannedRun], task: Task, device: str, engine: Engine) -> Trial:
    rules = [run.choice.build() for run in runs]
    return Trial([run.config for run in runs], rules, task, device, engine)


def _pace(trials: dict[int, Trial], threads: int) -> Pace:
    """After one step of each that is not timed."""
    best, rounds = dict.fromkeys(trials, float("inf")), 0
    with with_threads(threads):
        for trial in trials.values():
            trial.step()
        began = time.perf_counter()
        while (spent := time.perf_counter() - began) < LONG_ENOUGH or (
            rounds < ROUNDS and spent < TOO_LONG
        ):
            best = {size: min(best[size], trial.step()) for size, trial in trials.items()}
            rounds += 1
    return fitted(best)


def fitted(seconds: dict[int, float]) -> Pace:
    """The line through one or two sizes; neither part is negative."""
    few, many = min(seconds), max(seconds)
    if few == many:
        return Pace(0.0, seconds[few] / few)
    run = (seconds[many] - seconds[few]) / (many - few)
    run = min(max(run, 0.0), seconds[many] / many)
    return Pace(seconds[many] - run * many, run)
