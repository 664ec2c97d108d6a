"""Used depth: how many blocks of a network earn accuracy under a learning rule.

A block must earn twice: against not being trained, and against being trained on noise. So rung k of
the ladder is held against every lower rung, and against its swap twin, in which the credit of the
blocks that the rung adds is noise of the same norm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from depthgauge.verdict.ladder_scores import LadderScores
from depthgauge.verdict.paired_test import Scores, holm, p_greater

ERROR_RATE = 0.05
DELTA, SHARE_OF_GAIN = 0.005, 0.02
"""A gain that matters: half a point, or this share of what BP gains where that is less."""

FEW_SEEDS = 5
"""With so few seeds every single one must agree."""
LEAST_SEEDS = 3
"""With fewer seeds nothing is said with confidence."""


@dataclass(frozen=True)
class RungFinding:
    """What one rung of the ladder shows.

    Attributes:
        k: how many blocks are trained on this rung.
        blocks: those that it adds to the rung below, by their number from the embedding.
        earns: whether it is shown to earn accuracy, over all rungs together.
        p: of "better than every lower rung and than its swap twin"; None where there is no twin.
        gain: mean gain over the best lower rung.
        over_noise: mean gain over its swap twin; None where there is no twin.
    """

    k: int
    blocks: tuple[int, ...]
    earns: bool
    p: float | None
    gain: float | None
    over_noise: float | None


@dataclass(frozen=True)
class UsedDepth:
    """How many blocks of a network are in use.

    Attributes:
        value: the best estimate; None where rungs were skipped.
        low: at least so many blocks earn, with confidence.
        high: at most so many blocks may be in use, with confidence.
        blocks: how many the network has.
        seeds: how many seeds of the whole network there are.
        delta: a gain that matters, as a share of the samples.
        gain: what the whole network gains over frozen blocks in the mean.
        rungs: what each rung above k = 0 shows.
        gaining: how many rungs are shown to gain more than `delta` over every lower one.
        worse_than: k of a rung that the whole network is shown to be worse than; None if none.
        is_idle: whether the blocks that do not earn are shown to be worth less than `delta`.
        bp: the used depth of backpropagation on the same task; None for backpropagation itself.
    """

    value: int | None
    low: int
    high: int
    blocks: int
    seeds: int
    delta: float
    gain: float | None
    rungs: tuple[RungFinding, ...]
    gaining: int
    worse_than: int | None
    is_idle: bool
    bp: UsedDepth | None = None

    @cached_property
    def earning_blocks(self) -> tuple[int, ...]:
        """The blocks of the rungs that earn; a confirming run trains them alone."""
        return tuple(sorted(block for rung in self.rungs if rung.earns for block in rung.blocks))

    @property
    def needs_confirming(self) -> bool:
        """Whether a run that trains the earning blocks alone is a rung of its own."""
        return not _are_last(self.earning_blocks, self.blocks)

    def __str__(self) -> str:
        if self.seeds == 1 and self.value is not None:
            return f"{self.value} of {self.blocks} (single seed)"
        if self.seeds < LEAST_SEEDS:
            return "too few seeds"
        if self.low == self.high:
            return f"{self.low} of {self.blocks}"
        if self.value == self.high:
            return f"{self.value} of {self.blocks} (at least {self.low})"
        return f"{self.low} to {self.high} of {self.blocks}"


def find_used_depth(ladder: LadderScores, bp: UsedDepth | None = None) -> UsedDepth:
    """Return the used depth of a rule; `bp` is that of backpropagation on the same task.

    1. Rung k earns if it is above every lower rung and above its twin: paired by seed, one-sided,
       the largest p-value of these, by Holm's method over the rungs. With five seeds or fewer,
       every seed must agree.
    2. The rest is idle if the whole network is shown to be less than δ better than the earning
       blocks trained alone, or than the same with noise for the rest.
    """
    blocks, ks = ladder.ks[-1], ladder.ks
    gain = ladder.full.mean_difference(ladder.rungs[0])
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
    low, earning = sum(rung.earns for rung in rungs), sum(len(r.blocks) for r in rungs if r.earns)
    is_idle = enough and low < len(rungs) and _is_idle(ladder, rungs, delta)
    high = earning if is_idle else blocks
    return UsedDepth(
        value=_value(ladder, rungs, delta, low, high),
        low=low,
        high=high,
        blocks=blocks,
        seeds=seeds,
        delta=delta,
        gain=gain,
        rungs=rungs,
        gaining=sum(holm([_p_above_lower(ladder, k, delta) for k in ks], ERROR_RATE)),
        worse_than=_worse_than(ladder),
        is_idle=is_idle,
        bp=bp,
    )


def twins_needed(ladder: LadderScores, delta: float | None = None) -> list[int]:
    """Return the rungs whose swap twin can matter: those above every lower rung.

    That is a mean gain of δ, which counts for `value`, or a gain that is shown, which counts for
    `low`. The twins of other rungs would change nothing.
    """
    least = _delta(ladder.full.mean_difference(ladder.rungs[0])) if delta is None else delta
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
    rung, others = ladder.rungs[k], [*ladder.lower(k), ladder.twins[k]]
    if len(rung.accuracies) <= FEW_SEEDS and not all(
        difference > 0 for other in others for difference in rung.differences(other)
    ):
        return 1.0
    return max(p_greater(rung, other) for other in others)


def _p_above_lower(ladder: LadderScores, k: int, margin: float = 0.0) -> float:
    return max(p_greater(ladder.rungs[k], lower, margin) for lower in ladder.lower(k))


def _least_gain(ladder: LadderScores, k: int) -> float | None:
    """Return the mean gain of rung k over the best lower rung."""
    found = [ladder.rungs[k].mean_difference(lower) for lower in ladder.lower(k)]
    known = [gain for gain in found if gain is not None]
    return min(known) if len(known) == len(found) else None


def _over_noise(ladder: LadderScores, k: int) -> float | None:
    twin = ladder.twins.get(k)
    return None if twin is None else ladder.rungs[k].mean_difference(twin)


def _is_idle(ladder: LadderScores, rungs: Sequence[RungFinding], delta: float) -> bool:
    """Say whether the rest is shown to be worth less than δ: twice the smaller p of two tests."""
    alone = [_earning_alone(ladder, rungs), ladder.rest_on_noise]
    p = min((p_greater(run, ladder.full, -delta) for run in alone if run is not None), default=1.0)
    return 2 * p <= ERROR_RATE


def _earning_alone(ladder: LadderScores, rungs: Sequence[RungFinding]) -> Scores | None:
    """Return the confirming run; where the earning blocks are the last k, that is rung k."""
    earning = sorted(block for rung in rungs if rung.earns for block in rung.blocks)
    if _are_last(earning, ladder.ks[-1]):
        return ladder.rungs[len(earning)]
    return ladder.confirming


def _are_last(earning: Sequence[int], blocks: int) -> bool:
    return list(earning) == list(range(blocks - len(earning), blocks))


def _value(
    ladder: LadderScores, rungs: Sequence[RungFinding], delta: float, low: int, high: int
) -> int | None:
    """Return how many rungs gain δ over every lower one and something over noise, in range."""
    if any(len(rung.blocks) > 1 for rung in rungs):
        return None
    counted = sum(
        rung.gain is not None
        and rung.gain >= delta
        and (rung.over_noise is None or rung.over_noise > 0)
        for rung in rungs
    )
    return min(max(counted, low), high)


def _worse_than(ladder: LadderScores) -> int | None:
    """Return the rung that the whole network is shown to be worse than, if there is one."""
    lower = [k for k in ladder.ks if k < ladder.ks[-1]]
    found = {k: p_greater(ladder.rungs[k], ladder.full) for k in (0, *lower)}
    k = min(found, key=lambda k: found[k])
    return k if len(ladder.ks) * found[k] <= ERROR_RATE else None
