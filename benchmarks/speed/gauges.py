"""The cost of every gauge, compared with an epoch of training of the same network.

One network is read as in an audit: D1 to D2n and lesion on 10 batches of 128 samples, Γ, ρ and
nudging on 2,048 samples (ρ and nudging use 256 of them), the null with 200 draws. An epoch is that
of a cohort of one run, with its evaluation. The rules take turns, with one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .alternating import Turn, measure_alternately
from .audited_network import AuditedNetwork
from .cases import Case
from .median_range import MedianRange

STEPS = 40
"""The number of steps from which the time of an epoch is computed."""


def measure(cases: Sequence[Case], rounds: int, on_round: Callable[[], None]) -> dict[str, Any]:
    """Return the seconds of an epoch and of every gauge, for every round."""
    turn = Turn(AuditedNetwork, 1, STEPS, threads=1)
    seconds = measure_alternately(turn, cases, rounds, on_round)
    return {"width": cases[0].width, "blocks": cases[0].blocks, "seconds": seconds}


def text(result: dict[str, Any]) -> str:
    """Write every gauge in seconds, and in per cent of an epoch."""
    lines = []
    for rule, costs in result["seconds"].items():
        lines.append(f"{Case(rule, result['width'], result['blocks'])}")
        for name, seconds in costs.items():
            pairs = zip(seconds, costs["epoch"], strict=True)
            share = MedianRange.of([100 * own / epoch for own, epoch in pairs])
            lines.append(f"  {name:37} {MedianRange.of(seconds):.3f} s, {share:.1f} % of an epoch")
    return "\n".join(lines)
