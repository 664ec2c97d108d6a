"""Groups of cohorts that fit into memory together."""

from __future__ import annotations

from collections.abc import Sequence

from .cases import FEATURES, Case

SPARED = 0.8
"""The share of free memory that a measurement may use."""

ALONE = 4e8
"""The bytes of a process before it has data or a network."""

WEIGHT = 24
"""The bytes for each weight of a run: value, gradient and two moments, and half as much again."""


def process_bytes(case: Case, runs: int) -> float:
    """Estimate the memory of a process that trains so many runs.

    Training images are bytes; evaluation images are kept as bytes and as floats.
    """
    data = FEATURES * (case.samples + 5 * case.evaluation)
    return ALONE + data + runs * case.weights * WEIGHT


def sizes_together(case: Case, sizes: Sequence[int], cores: int, free: float) -> list[list[int]]:
    """Group sizes of cohorts, so that each group fits into memory beside a script and loops.

    Each size needs two processes for each core, one of them in bfloat16. Every group has its own
    script and loops, because a ratio compares only contenders that took turns.
    """
    baselines = (1 + cores) * process_bytes(case, case.blocks + 1)
    groups: list[list[int]] = [[]]
    used = baselines
    for size in sorted(sizes):
        needed = 2 * cores * process_bytes(case, size)
        if groups[-1] and used + needed > SPARED * free:
            groups.append([])
            used = baselines
        groups[-1].append(size)
        used += needed
    return groups


def cases_together(cases: Sequence[Case], runs: int, free: float) -> list[Sequence[Case]]:
    """Group cases, so that the processes of each group fit into memory, one for each case."""
    fitting = max(1, int(SPARED * free / process_bytes(cases[0], runs)))
    return [cases[start : start + fitting] for start in range(0, len(cases), fitting)]
