"""Rules in turn, round after round, each of which tells the seconds of several things."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .cases import Case
from .processes import Contender, Processes

Seconds = dict[str, dict[str, list[float]]]
"""Of every rule and everything that is timed, those of each round."""


@dataclass(frozen=True)
class Turn:
    """What every rule does when it is its turn: so many runs train so many steps."""

    contender: type[Contender[dict[str, float]]]
    runs: int
    steps: int
    threads: int


def alternately(
    turn: Turn, cases: Sequence[Case], rounds: int, on_round: Callable[[], None]
) -> Seconds:
    """Each rule in a process of its own."""
    processes = {case.rule: Processes(turn.contender, case, turn.runs) for case in cases}
    found: Seconds = {rule: {} for rule in processes}
    for _ in range(rounds):
        for rule, process in processes.items():
            (told,) = process.train(turn.steps, threads=turn.threads)
            for name, seconds in told.items():
                found[rule].setdefault(name, []).append(seconds)
        on_round()
    for process in processes.values():
        process.stop()
    return found
