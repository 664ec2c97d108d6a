"""What fits into memory together."""

from __future__ import annotations

from collections.abc import Sequence

from .cases import FEATURES, Case

SPARED = 0.8
"""The share of the memory that is free now which a measurement may use."""

ALONE = 4e8
"""Bytes of a process before it has data or a network."""

WEIGHT = 24
"""Bytes for each weight of a run: itself, its gradient, two moments, and half as much beside."""


def process_bytes(case: Case, runs: int) -> float:
    """Memory of a process that trains so many runs; bytes of pixels, floats for evaluation."""
    data = FEATURES * (case.samples + 5 * case.evaluation)
    return ALONE + data + runs * case.weights * WEIGHT


def sizes_together(case: Case, sizes: Sequence[int], cores: int, free: float) -> list[list[int]]:
    """Sizes of cohorts in groups, each of as many as fit beside a script and loops.

    Of each size there are two processes for each core, one of them in bfloat16. Every group has
    script and loops of its own, because a ratio is only taken between what was measured
    alternately.
    """
    baselines = (1 + cores) * process_bytes(case, case.blocks + 1)
    found: list[list[int]] = [[]]
    used = baselines
    for size in sorted(sizes):
        needed = 2 * cores * process_bytes(case, size)
        if found[-1] and used + needed > SPARED * free:
            found.append([])
            used = baselines
        found[-1].append(size)
        used += needed
    return found


def cases_together(cases: Sequence[Case], runs: int, free: float) -> list[Sequence[Case]]:
    """Cases in groups, each of as many as fit with so many runs, a process for each."""
    fitting = max(1, int(SPARED * free / process_bytes(cases[0], runs)))
    return [cases[start : start + fitting] for start in range(0, len(cases), fitting)]
