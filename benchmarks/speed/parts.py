"""The time of an epoch by part: data, forward, credit, update, evaluation, diagnostics, storage.

At the scale of CIFAR-10 an epoch has 391 steps, of which some are measured. The cohorts of the
rules take turns, each in a process with one thread. The rest of an epoch is counted in proportion:
accuracy on 10,000 samples, the norms for D1 and D2 on 1,280 samples, a line of metrics for every
run, a checkpoint of all runs every minute, a heartbeat every two seconds. Credit includes the
gradients of the weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .alternating import Turn, measure_alternately
from .cases import Case
from .median_range import MedianRange
from .timed_cohort import PARTS, TimedCohort

RUN_STEPS = 60
"""About how many run-steps a cohort trains in a round, but at least `LEAST_STEPS` steps."""

LEAST_STEPS = 4


def steps_of(runs: int) -> int:
    """Return the number of steps that a cohort of so many runs trains in a round."""
    return max(LEAST_STEPS, RUN_STEPS // runs)


def measure(
    cases: Sequence[Case], runs: int, rounds: int, on_round: Callable[[], None]
) -> dict[str, Any]:
    """Return the seconds of every part of an epoch, for every round and rule."""
    turn = Turn(TimedCohort, runs, steps_of(runs), threads=1)
    seconds = measure_alternately(turn, cases, rounds, on_round)
    return {
        "width": cases[0].width,
        "blocks": cases[0].blocks,
        "runs": runs,
        "epoch_seconds": seconds,
        "per_cent": {rule: shares(own) for rule, own in seconds.items()},
    }


def shares(seconds: dict[str, list[float]]) -> dict[str, list[float]]:
    """Return each part in per cent of the epoch, round by round."""
    wholes = [sum(parts) for parts in zip(*seconds.values(), strict=True)]
    return {
        part: [100 * own / whole for own, whole in zip(values, wholes, strict=True)]
        for part, values in seconds.items()
    }


def text(result: dict[str, Any]) -> str:
    """Write a line of medians for each rule, and below it a line of ranges."""
    shape = f"{result['runs']} runs, d = {result['width']}, L = {result['blocks']}"
    lines = [f"{shape}; per cent of the time, ranges below"]
    lines.append(" " * 16 + "".join(f"{part:>13}" for part in PARTS))
    for rule, by_part in result["per_cent"].items():
        figures = [MedianRange.of(by_part[part]) for part in PARTS]
        lines.append(f"  {rule:14}" + "".join(f"{figure.median:13.1f}" for figure in figures))
        ranges = [f"{figure.least:.1f} … {figure.greatest:.1f}" for figure in figures]
        lines.append(" " * 16 + "".join(f"{text:>13}" for text in ranges))
    return "\n".join(lines)
