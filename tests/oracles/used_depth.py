"""Used depth written down once more, slowly: sums over samples, sorted p-values, no shortcuts."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

ALPHA = 0.05


def p_above(one: list, other: list, margin: float = 0.0, bits=None, samples=None) -> float:
    """P-value of mean(one − other) > margin, seeds in order; `bits` are two (seeds, M) arrays."""
    d = np.array(one, dtype=float) - np.array(other, dtype=float) - margin
    n = len(d)
    a, b, m = d.var(ddof=1) / n, 0.0, 2
    if bits is not None:
        mine, theirs = (np.array(each, dtype=float) for each in bits)
        m = mine.shape[1]
        each_sample = [
            sum(mine[seed, i] - theirs[seed, i] for seed in range(n)) / n for i in range(m)
        ]
        b = np.var(each_sample, ddof=1) / m
    elif samples is not None:
        m = samples
        b = (np.mean(one) * (1 - np.mean(one)) + np.mean(other) * (1 - np.mean(other))) / m
    if math.sqrt(a + b) < 1e-12:
        return 0.0 if d.mean() > 1e-12 else 1.0
    freedom = (a + b) ** 2 / (a**2 / (n - 1) + b**2 / (m - 1))
    return float(stats.t.sf(d.mean() / math.sqrt(a + b), freedom))


def rejected(p_values: list[float]) -> list[bool]:
    """Holm by its adjusted p-values: the running maximum of (m − rank)·p."""
    m, adjusted, largest = len(p_values), [0.0] * len(p_values), 0.0
    for rank, place in enumerate(np.argsort(p_values, kind="stable")):
        largest = max(largest, (m - rank) * p_values[place])
        adjusted[place] = largest
    return [p <= ALPHA for p in adjusted]


def used_depth(ladder: dict, twins: dict, confirming=None, noise=None, delta: float = 0.005):
    """(value, low, high, gaining) of a ladder with every k, accuracies in the order of seeds."""
    blocks, seeds = max(ladder), len(ladder[0])
    p_values, p_delta = [], []
    for k in range(1, blocks + 1):
        others = [ladder[j] for j in range(k)] + ([twins[k]] if k in twins else [])
        positive = all(x > y for other in others for x, y in zip(ladder[k], other, strict=True))
        found = max(p_above(ladder[k], other) for other in others)
        p_values.append(1.0 if k not in twins or (seeds <= 5 and not positive) else found)
        by_delta = max(p_above(ladder[k], other, delta) for other in others)
        p_delta.append(by_delta if k in twins else 1.0)
    earning = [k for k, holds in enumerate(rejected(p_values), start=1) if holds]
    alone = ladder[len(earning)] if earning == list(range(1, len(earning) + 1)) else confirming
    idle = min(
        [p_above(run, ladder[blocks], -delta) for run in (alone, noise) if run is not None],
        default=1.0,
    )
    high = len(earning) if len(earning) == blocks or 2 * idle <= ALPHA else blocks
    counted = 0
    for k in range(1, blocks + 1):
        others = [ladder[j] for j in range(k)] + ([twins[k]] if k in twins else [])
        counted += min(np.mean(ladder[k]) - np.mean(other) for other in others) >= delta
    value = min(max(counted, len(earning)), high)
    return value, len(earning), high, sum(rejected(p_delta))
