"""Where an engine's time goes: data, forward, credit, update, evaluation, diagnostics, storage.

At the scale of CIFAR-10 an epoch has 391 steps. Some of them are trained, cohorts of all rules
alternately, each in a process with one thread, and what comes once an epoch or once a minute is
counted in its proportion: accuracy on 10,000 samples, the norms for D1 and D2 on 1,280, a line of
metrics for every run, a checkpoint of all runs every minute, a sign of life every two seconds.
Credit includes the gradients of the weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .alternately import Turn, alternately
from .cases import Case
from .middle import Middle
from .watched import PARTS, Watched

RUN_STEPS = 60
"""Trained at a time, about; but at least `LEAST_STEPS` steps."""

LEAST_STEPS = 4


def steps_of(runs: int) -> int:
    """How many steps a cohort of so many runs trains at a time."""
    return max(LEAST_STEPS, RUN_STEPS // runs)


def measure(
    cases: Sequence[Case], runs: int, rounds: int, on_round: Callable[[], None]
) -> dict[str, Any]:
    """Seconds of every part in an epoch, of every round, for rules that share all else."""
    turn = Turn(Watched, runs, steps_of(runs), threads=1)
    found = alternately(turn, cases, rounds, on_round)
    return {
        "width": cases[0].width,
        "blocks": cases[0].blocks,
        "runs": runs,
        "epoch_seconds": found,
        "per_cent": {rule: shares(seconds) for rule, seconds in found.items()},
    }


def shares(seconds: dict[str, list[float]]) -> dict[str, list[float]]:
    """Per cent of the whole, round by round."""
    wholes = [sum(parts) for parts in zip(*seconds.values(), strict=True)]
    return {
        part: [100 * one / whole for one, whole in zip(own, wholes, strict=True)]
        for part, own in seconds.items()
    }


def text(result: dict[str, Any]) -> str:
    """A line of medians for each rule, and below it the ranges."""
    shape = f"{result['runs']} runs, d = {result['width']}, L = {result['blocks']}"
    lines = [f"{shape}; per cent of the time, ranges below"]
    lines.append(" " * 16 + "".join(f"{part:>13}" for part in PARTS))
    for rule, by_part in result["per_cent"].items():
        middles = [Middle.of(by_part[part]) for part in PARTS]
        lines.append(f"  {rule:14}" + "".join(f"{one.median:13.1f}" for one in middles))
        ranges = [f"{one.least:.1f} … {one.greatest:.1f}" for one in middles]
        lines.append(" " * 16 + "".join(f"{one:>13}" for one in ranges))
    return "\n".join(lines)
