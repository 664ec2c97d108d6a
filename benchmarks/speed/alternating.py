"""Measurements of several rules that take turns, round after round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .cases import Case
from .processes import Contender, Processes

Seconds = dict[str, dict[str, list[float]]]
"""The seconds of each round, by rule and by the part that is timed."""


@dataclass(frozen=True)
class Turn:
    """The work of a rule in one round: so many runs train so many steps."""

    contender: type[Contender[dict[str, float]]]
    runs: int
    steps: int
    threads: int


def measure_alternately(
    turn: Turn, cases: Sequence[Case], rounds: int, on_round: Callable[[], None]
) -> Seconds:
    """Return the seconds of each rule; each rule has a process of its own."""
    processes = {case.rule: Processes(turn.contender, case, turn.runs) for case in cases}
    measured: Seconds = {rule: {} for rule in processes}
    for _ in range(rounds):
        for rule, process in processes.items():
            (by_part,) = process.train(turn.steps, threads=turn.threads)
            for part, seconds in by_part.items():
                measured[rule].setdefault(part, []).append(seconds)
        on_round()
    for process in processes.values():
        process.stop()
    return measured
