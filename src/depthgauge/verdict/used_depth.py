"""The statistics of used depth: how many blocks earn accuracy under a learning rule.

A block earns if training it is better than leaving it untrained, and better than training it on
noise. Rung k of the ladder trains the last k blocks. So rung k is compared with every lower rung,
and with its swap twin. In the swap twin, noise of the same norm replaces the credit of the blocks
that rung k adds to the next lower rung.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from depthgauge.diagnostics.used_depth import LEAST_SEEDS, RungFinding, UsedDepth, are_last
from depthgauge.verdict.paired_test import Scores, compare, holm
from depthgauge.verdict.rung_comparisons import LadderScores

ERROR_RATE = 0.05
DELTA, SHARE_OF_GAIN = 0.005, 0.02
"""The least gain that matters: half a point, or 2 % of BP's gain if that is less."""

FEW_SEEDS = 5
"""With at most this many seeds, a rung earns only if every seed agrees."""


def find_used_depth(
    ladder: LadderScores, bp: UsedDepth | None = None, *, is_bp: bool | None = None
) -> UsedDepth:
    """Return the used depth of a rule; `bp` is backpropagation's used depth on the same task.

    Without `bp` the rule is backpropagation itself, unless `is_bp` says otherwise.

    1. Rung k earns if it is above every lower rung and above its twin. The tests are one-sided and
       paired by seed. The largest p-value of the rung counts, with Holm's correction over the
       rungs. With five seeds or fewer, every seed must agree.
    2. The other blocks are idle if they are shown to add less than δ, the least gain that matters.
       One of two comparisons of the whole network must show this: the comparison with the earning
       blocks trained alone, or with a network in which noise is the credit of the other blocks.
    """
    blocks, ks = ladder.ks[-1], ladder.ks
    gain = ladder.over_lower[blocks][0].mean
    delta = bp.delta if bp else _delta(gain)
    seeds = len(ladder.full.accuracies)
    is_enough = seeds >= LEAST_SEEDS
    rungs = _find_rungs(ladder, is_enough)
    low = sum(rung.earns for rung in rungs)
    is_idle = is_enough and low < len(rungs) and _is_idle(ladder, rungs, delta)
    rungs_possible = low if is_idle else len(rungs)
    rungs_in_use = min(max(_count_gaining(rungs, delta), low), rungs_possible)
    return UsedDepth(
        value=rungs_in_use if len(rungs) == blocks else None,
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


def _find_rungs(ladder: LadderScores, is_enough: bool) -> tuple[RungFinding, ...]:
    """Return the evidence on each rung above k = 0; without enough seeds no rung earns."""
    p_values = [_p_of_rung(ladder, k) for k in ladder.ks]
    earns = holm([1.0 if p is None else p for p in p_values], ERROR_RATE)
    return tuple(
        RungFinding(
            k=k,
            blocks=ladder.added(k),
            earns=earning and is_enough,
            p=p,
            gain=_least_gain(ladder, k),
            over_noise=_over_noise(ladder, k),
        )
        for k, p, earning in zip(ladder.ks, p_values, earns, strict=True)
    )


def twins_needed(ladder: LadderScores, delta: float | None = None) -> list[int]:
    """Return k of the rungs whose swap twins can change the used depth.

    These rungs are better than every lower rung, in one of two ways. If the mean gain of a rung is
    at least `delta`, its twin matters for `value`. If the gain is significant, the twin matters for
    `low`.
    """
    least = _delta(ladder.over_lower[ladder.ks[-1]][0].mean) if delta is None else delta
    return [
        k
        for k in ladder.ks
        if (_least_gain(ladder, k) or 0.0) >= least or _p_above_lower(ladder, k) <= ERROR_RATE
    ]


def _delta(bp_gain: float | None) -> float:
    """Return δ, the least gain that matters."""
    return DELTA if bp_gain is None or bp_gain <= 0 else min(DELTA, SHARE_OF_GAIN * bp_gain)


def _p_of_rung(ladder: LadderScores, k: int) -> float | None:
    """Return the p-value of "rung k earns"; None without a twin."""
    if k not in ladder.twins:
        return None
    if len(ladder.rungs[k].accuracies) <= FEW_SEEDS:
        comparisons = (ladder.over_noise[k], *ladder.over_lower[k].values())
        if any(c.least is not None and c.least <= 0 for c in comparisons):
            return 1.0
    return _p_above_all(ladder, k)


def _p_above_all(ladder: LadderScores, k: int, margin: float = 0.0) -> float:
    """Return the p-value of "rung k is above every lower rung and its twin by the margin"."""
    if k not in ladder.twins:
        return 1.0
    return max(_p_above_lower(ladder, k, margin), ladder.over_noise[k].p_above(margin))


def _p_above_lower(ladder: LadderScores, k: int, margin: float = 0.0) -> float:
    """Return the p-value of "rung k is above every lower rung by the margin"."""
    return max(gain.p_above(margin) for gain in ladder.over_lower[k].values())


def _least_gain(ladder: LadderScores, k: int) -> float | None:
    """Return the mean gain of rung k over the best lower rung."""
    means = [gain.mean for gain in ladder.over_lower[k].values()]
    known = [mean for mean in means if mean is not None]
    return min(known) if len(known) == len(means) else None


def _over_noise(ladder: LadderScores, k: int) -> float | None:
    """Return the mean gain of rung k over its twin; None without a twin."""
    return ladder.over_noise[k].mean if k in ladder.twins else None


def _is_idle(ladder: LadderScores, rungs: Sequence[RungFinding], delta: float) -> bool:
    """Return whether the blocks that do not earn are shown to be worth less than δ.

    Either of two tests can show this, so twice the smaller p-value counts (Bonferroni).
    """
    runs = [_earning_alone(ladder, rungs), ladder.rest_on_noise]
    p_values = [compare(ladder.full, run).p_below(delta) for run in runs if run is not None]
    return 2 * min(p_values, default=1.0) <= ERROR_RATE


def _earning_alone(ladder: LadderScores, rungs: Sequence[RungFinding]) -> Scores | None:
    """Return the scores with the earning blocks trained alone.

    If the earning blocks are the last k blocks, return the scores of rung k. Otherwise return the
    scores of the confirming runs, or None if there are none.
    """
    earning = sorted(block for rung in rungs if rung.earns for block in rung.blocks)
    if are_last(earning, ladder.ks[-1]):
        return ladder.rungs[len(earning)]
    return ladder.confirming


def _count_gaining(rungs: Sequence[RungFinding], delta: float) -> int:
    """Count the rungs whose mean gain over every lower rung, and over noise, is at least δ."""
    return sum(
        rung.gain is not None
        and rung.gain >= delta
        and (rung.over_noise is None or rung.over_noise >= delta)
        for rung in rungs
    )


def _worse_than(ladder: LadderScores) -> int | None:
    """Return k of the best rung that is shown to be better than the whole network, or None."""
    over_lower = ladder.over_lower[ladder.ks[-1]]
    shown = [k for k, gain in over_lower.items() if len(ladder.ks) * gain.p_below() <= ERROR_RATE]
    return max(shown, key=lambda k: fmean(ladder.rungs[k].accuracies.values()), default=None)
