"""Used depth: how many blocks of a network earn accuracy under a learning rule.

A block earns if training it is better than leaving it untrained, and better than training it on
noise. The statistics are in `depthgauge.verdict.used_depth`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

TITLE = "used depth"
MEANING = (
    "how many blocks earn accuracy: a block earns if training it is better than leaving it "
    "untrained, and better than training it on noise."
)

LEAST_SEEDS = 3
"""The number of seeds that are needed to say anything with confidence."""
LEAST_RUNGS = 3
"""The number of rungs above k = 0 that a ladder needs, unless the network has fewer blocks."""
LEAST_OF_BP = 2
"""The number of rungs that BP must be shown to use; otherwise the task cannot show depth."""


@dataclass(frozen=True)
class RungFinding:
    """The evidence on one rung of the ladder.

    The swap twin of a rung trains the same blocks, but with noise for the blocks that the rung
    adds.

    Attributes:
        k: the number of blocks that are trained on this rung.
        blocks: the blocks that this rung adds to the rung below, counted from the embedding.
        earns: whether the rung is shown to earn accuracy. The test is corrected for the number of
            rungs.
        p: the p-value of "the rung is better than every lower rung and better than its swap twin";
            None without a twin.
        gain: the mean gain over the best lower rung.
        over_noise: the mean gain over its swap twin; None without a twin.
    """

    k: int
    blocks: tuple[int, ...]
    earns: bool
    p: float | None
    gain: float | None
    over_noise: float | None


@dataclass(frozen=True)
class UsedDepth:
    """The number of blocks of a network that are in use.

    Attributes:
        value: the best estimate of the number of blocks in use; None if rungs were skipped.
        low: the least number of blocks that earn, with confidence.
        high: the largest number of blocks that may be in use, with confidence.
        rungs_in_use: the best estimate of the number of rungs that earn; equal to `value` if no
            rung was skipped.
        rungs_possible: the largest number of rungs that may be in use, with confidence.
        blocks: the number of blocks of the network.
        seeds: the number of seeds of the whole network.
        delta: the least gain that matters, as a share of the samples.
        gain: the mean gain of the whole network over frozen blocks.
        rungs: the evidence on each rung above k = 0.
        gaining: the number of rungs that are shown to gain more than `delta` over every lower rung
            and over noise.
        worse_than: k of a rung that is shown to be better than the whole network, if there is one.
        is_idle: whether the blocks that do not earn are shown to be worth less than `delta`.
        bp: the used depth of backpropagation on the same task; None for backpropagation itself,
            and if backpropagation was not trained.
        is_bp: whether this is the used depth of backpropagation itself.
    """

    value: int | None
    low: int
    high: int
    rungs_in_use: int
    rungs_possible: int
    blocks: int
    seeds: int
    delta: float
    gain: float | None
    rungs: tuple[RungFinding, ...]
    gaining: int
    worse_than: int | None
    is_idle: bool
    bp: UsedDepth | None = None
    is_bp: bool = True

    @cached_property
    def earning_blocks(self) -> tuple[int, ...]:
        """Return the blocks of the rungs that earn; a confirming run trains only these blocks."""
        return tuple(sorted(block for rung in self.rungs if rung.earns for block in rung.blocks))

    @property
    def needs_confirming(self) -> bool:
        """Return whether a confirming run is needed: no rung trains exactly the earning blocks."""
        return not are_last(self.earning_blocks, self.blocks)

    @property
    def has_estimate(self) -> bool:
        """Return whether there is an estimate of used depth.

        Three seeds or more give an estimate. One seed gives an estimate if no rung was skipped.
        """
        return self.seeds >= LEAST_SEEDS or (self.seeds == 1 and self.value is not None)

    @property
    def is_open(self) -> bool:
        """Return whether nothing is shown: no block is shown to earn, and none to be idle."""
        return self.low == 0 and self.high == self.blocks

    @property
    def has_ladder(self) -> bool:
        """Return whether there are enough rungs for a verdict."""
        return len(self.rungs) >= min(self.blocks, LEAST_RUNGS)

    @property
    def is_testable(self) -> bool:
        """Return whether the task can show depth: backpropagation uses two rungs or more."""
        bp = self if self.is_bp else self.bp
        if bp is None:
            return False
        used = bp.rungs_in_use if bp.seeds == 1 else bp.low
        return self.has_ladder and bp.has_ladder and used >= LEAST_OF_BP

    @property
    def is_shallow(self) -> bool:
        """Return whether the rule uses fewer rungs than backpropagation.

        If so, the largest number of rungs that the rule may use is less than the number of rungs
        from which backpropagation is shown to gain. With one seed, the two estimates are compared.
        """
        if self.bp is None:
            return False
        if self.seeds == 1:
            return self.rungs_in_use < self.bp.rungs_in_use
        return self.rungs_possible < self.bp.gaining

    @property
    def is_deep(self) -> bool:
        """Return whether the rule uses at least as many rungs as backpropagation.

        If so, the number of rungs that are shown to earn is at least the largest number of rungs
        that backpropagation may use. With one seed, the two estimates are compared. Backpropagation
        itself is always deep, because it is the measure of depth.
        """
        if self.bp is None:
            return True
        if self.seeds == 1:
            return self.rungs_in_use >= self.bp.rungs_in_use
        return self.low >= self.bp.rungs_possible

    @property
    def open_rungs(self) -> tuple[int, ...]:
        """Return k of each rung that is neither shown to earn nor shown to be idle."""
        return () if self.is_idle else tuple(rung.k for rung in self.rungs if not rung.earns)

    def __str__(self) -> str:
        if not self.has_estimate:
            return "too few seeds"
        if self.seeds == 1:
            return f"{self.value} of {self.blocks} (single seed)"
        if self.low == self.high:
            return f"{self.low} of {self.blocks}"
        if self.value == self.high:
            return f"{self.value} of {self.blocks} (at least {self.low})"
        return f"{self.low} to {self.high} of {self.blocks}"


def in_words(depth: UsedDepth) -> str:
    """Return the used depth as a clause for a newcomer."""
    if 1 < depth.seeds < LEAST_SEEDS:
        return "two seeds are too few to say how many blocks it trains"
    text = f"trains {depth} blocks"
    if depth.seeds == 1:
        text = f"trains {depth.rungs_in_use} of {depth.blocks} blocks by one seed alone"
    named = ", ".join(map(str, depth.earning_blocks))
    if depth.is_idle and depth.earning_blocks:
        text += f" ({'block' if len(depth.earning_blocks) == 1 else 'blocks'} {named})"
    return text


def are_last(blocks: Sequence[int], count: int) -> bool:
    """Return whether `blocks` are the last ones of a network with `count` blocks."""
    return list(blocks) == list(range(count - len(blocks), count))
