"""What every gauge costs, beside one epoch of training of the same network.

One network is read as an audit reads it: D1 to D2n and lesion on 10 batches of 128 samples, Γ, ρ
and nudging on 2,048 samples (of which the last two use 256), the null with 200 draws. An epoch is
that of a cohort of one run, with its evaluation. All rules alternately, one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .alternately import Turn, alternately
from .cases import Case
from .examined import Examined
from .middle import Middle

STEPS = 40
"""Steps from which an epoch's time is told."""


def measure(cases: Sequence[Case], rounds: int, on_round: Callable[[], None]) -> dict[str, Any]:
    """Seconds of an epoch and of every gauge, in every round."""
    turn = Turn(Examined, 1, STEPS, threads=1)
    found = alternately(turn, cases, rounds, on_round)
    return {"width": cases[0].width, "blocks": cases[0].blocks, "seconds": found}


def text(result: dict[str, Any]) -> str:
    """Every gauge in seconds, and in per cent of an epoch."""
    lines = []
    for rule, costs in result["seconds"].items():
        lines.append(f"{Case(rule, result['width'], result['blocks'])}")
        for name, seconds in costs.items():
            pairs = zip(seconds, costs["epoch"], strict=True)
            share = Middle.of([100 * own / epoch for own, epoch in pairs])
            lines.append(f"  {name:37} {Middle.of(seconds):.3f} s, {share:.1f} % of an epoch")
    return "\n".join(lines)
