"""Used depths of ladders like those of the embedded task."""

from __future__ import annotations

import numpy as np

import depthgauge as dg
from depthgauge.diagnostics.used_depth import UsedDepth

BP, BP_TWINS = (27.1, 55.7, 64.8, 69.2, 71.2), (29.3, 53.2, 61.5, 66.8)


def depth(means, twins=None, *, bp=None, seeds=3, spread=0.2, k=None, first=0) -> UsedDepth:
    """Return the used depth of a ladder whose seeds scatter around these means, in points."""
    rng = np.random.default_rng(first)
    ks = list(range(len(means))) if k is None else list(k)

    def around(mean: float) -> list[float]:
        return list((mean + rng.normal(0, spread, seeds)) / 100)

    ladder = {step: around(mean) for step, mean in zip(ks, means, strict=True)}
    on_noise = {k: around(mean) for k, mean in (twins or {}).items()}
    return dg.used_depth(ladder, twins=on_noise, bp=bp)


def bp_depth(seeds: int = 3) -> UsedDepth:
    return depth(BP, dict(enumerate(BP_TWINS, 1)), seeds=seeds)
