"""Used depth: how many blocks of a network earn accuracy under a learning rule.

A block must earn twice: against not being trained, and against being trained on noise. So rung k of
the ladder is held against every lower rung, and against its swap twin, in which the credit of the
blocks that the rung adds is noise of the same norm.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from depthgauge.diagnostics.used_depth import LEAST_SEEDS, RungFinding, UsedDepth, are_last
from depthgauge.verdict.ladder_scores import LadderScores
from depthgauge.verdict.paired_test import Scores, compare, holm

ERROR_RATE = 0.05
DELTA, SHARE_OF_GAIN = 0.005, 0.02
"""A gain that matters: half a point, or this share of what BP gains where that is less."""

FEW_SEEDS = 5
"""With so few seeds every single one must agree."""


def find_used_depth(
    ladder: LadderScores, bp: UsedDepth | None = None, *, is_bp: bool | None = None
) -> UsedDepth:
    """Return the used depth of a rule; `bp` is that of backpropagation on the same task.

    Without one the rule is backpropagation itself, unless `is_bp` says otherwise.

    1. Rung k earns if it is above every lower rung and above its twin: paired by seed, one-sided,
       the largest p-value of these, by Holm's method over the rungs. With five seeds or fewer,
       every seed must agree.
    2. The rest is idle if the whole network is shown to be less than δ better than the earning
       blocks trained alone, or than the same with noise for the rest.
    """
    blocks, ks = ladder.ks[-1], ladder.ks
    gain = ladder.over_lower[blocks][0].mean
    delta = bp.delta if bp else _delta(gain)
    found = [_p_of_rung(ladder, k) for k in ks]
    seeds = len(ladder.full.accuracies)
    enough = seeds >= LEAST_SEEDS
    earns = holm([1.0 if p is None else p for p in found], ERROR_RATE)
    rungs = tuple(
        RungFinding(
            k=k,
            blocks=ladder.added(k),
            earns=earning and enough,
            p=p,
            gain=_least_gain(ladder, k),
            over_noise=_over_noise(ladder, k),
        )
        for k, p, earning in zip(ks, found, earns, strict=True)
    )
    low = sum(rung.earns for rung in rungs)
    is_idle = enough and low < len(rungs) and _is_idle(ladder, rungs, delta)
    rungs_possible = low if is_idle else len(rungs)
    rungs_in_use = min(max(_count_gaining(rungs, delta), low), rungs_possible)
    is_whole = len(rungs) == blocks
    return UsedDepth(
        value=rungs_in_use if is_whole else None,
        low=low,
        high=sum(len(r.blocks) for r in rungs if r.earns) if is_idle else blocks,
        rungs_in_use=rungs_in_use,
        rungs_possible=rungs_possible,
        blocks=blocks,
        seeds=seeds,
        delta=delta,
        gain=gain,
        rungs=rungs,
        gaining=sum(holm([_p_above_all(ladder, k, delta) for k in ks], ERROR_RATE)),
        worse_than=_worse_than(ladder),
        is_idle=is_idle,
        bp=bp,
        is_bp=bp is None if is_bp is None else is_bp,
    )


def twins_needed(ladder: LadderScores, delta: float | None = None) -> list[int]:
    """Return the rungs whose swap twin can matter: those above every lower rung.

    That is a mean gain of δ, which counts for `value`, or a gain that is shown, which counts for
    `low`. The twins of other rungs would change nothing.
    """
    least = _delta(ladder.over_lower[ladder.ks[-1]][0].mean) if delta is None else delta
    return [
        k
        for k in ladder.ks
        if (_least_gain(ladder, k) or 0.0) >= least or _p_above_lower(ladder, k) <= ERROR_RATE
    ]


def _delta(bp_gain: float | None) -> float:
    return DELTA if bp_gain is None or bp_gain <= 0 else min(DELTA, SHARE_OF_GAIN * bp_gain)


def _p_of_rung(ladder: LadderScores, k: int) -> float | None:
    """Return the p-value of "rung k earns"; None without a twin."""
    if k not in ladder.twins:
        return None
    if len(ladder.rungs[k].accuracies) <= FEW_SEEDS:
        found = (ladder.over_noise[k], *ladder.over_lower[k].values())
        if any(each.least is not None and each.least <= 0 for each in found):
            return 1.0
    return _p_above_all(ladder, k)


def _p_above_all(ladder: LadderScores, k: int, margin: float = 0.0) -> float:
    """Return the p-value of "rung k is so far above every lower one and its twin"."""
    if k not in ladder.twins:
        return 1.0
    return max(_p_above_lower(ladder, k, margin), ladder.over_noise[k].p_above(margin))


def _p_above_lower(ladder: LadderScores, k: int, margin: float = 0.0) -> float:
    return max(gain.p_above(margin) for gain in ladder.over_lower[k].values())


def _least_gain(ladder: LadderScores, k: int) -> float | None:
    """Return the mean gain of rung k over the best lower rung."""
    found = [gain.mean for gain in ladder.over_lower[k].values()]
    known = [mean for mean in found if mean is not None]
    return min(known) if len(known) == len(found) else None


def _over_noise(ladder: LadderScores, k: int) -> float | None:
    return ladder.over_noise[k].mean if k in ladder.twins else None


def _is_idle(ladder: LadderScores, rungs: Sequence[RungFinding], delta: float) -> bool:
    """Say whether the rest is shown to be worth less than δ: twice the smaller p of two tests."""
    alone = [_earning_alone(ladder, rungs), ladder.rest_on_noise]
    found = [compare(ladder.full, run).p_below(delta) for run in alone if run is not None]
    return 2 * min(found, default=1.0) <= ERROR_RATE


def _earning_alone(ladder: LadderScores, rungs: Sequence[RungFinding]) -> Scores | None:
    """Return the confirming run; where the earning blocks are the last k, that is rung k."""
    earning = sorted(block for rung in rungs if rung.earns for block in rung.blocks)
    if are_last(earning, ladder.ks[-1]):
        return ladder.rungs[len(earning)]
    return ladder.confirming


def _count_gaining(rungs: Sequence[RungFinding], delta: float) -> int:
    """Count the rungs that gain δ over every lower one and over noise, in the mean."""
    return sum(
        rung.gain is not None
        and rung.gain >= delta
        and (rung.over_noise is None or rung.over_noise >= delta)
        for rung in rungs
    )


def _worse_than(ladder: LadderScores) -> int | None:
    """Return the best rung that the whole network is shown to be worse than, if there is one."""
    over_lower = ladder.over_lower[ladder.ks[-1]]
    shown = [k for k, gain in over_lower.items() if len(ladder.ks) * gain.p_below() <= ERROR_RATE]
    return max(shown, key=lambda k: fmean(ladder.rungs[k].accuracies.values()), default=None)
