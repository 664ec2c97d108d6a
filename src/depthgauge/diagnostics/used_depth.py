"""Used depth: how many blocks of a network earn accuracy under a learning rule, and in words.

A block must earn twice: against not being trained, and against being trained on noise. The
statistics are in `depthgauge.verdict.used_depth`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

TITLE = "used depth"
MEANING = (
    "how many blocks earn accuracy: a block earns if training it gains over leaving it as it was, "
    "and over training it on noise."
)

LEAST_SEEDS = 3
"""With fewer seeds nothing is said with confidence."""
LEAST_RUNGS = 3
"""A ladder with fewer rungs above k = 0 tells nothing, unless the network has no more blocks."""
LEAST_OF_BP = 2
"""Where backpropagation is shown to use fewer rungs, the task does not tell depth."""


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
        rungs_in_use: how many rungs earn by the best estimate; the `value` where none was skipped.
        rungs_possible: at most so many rungs may be in use, with confidence.
        blocks: how many the network has.
        seeds: how many seeds of the whole network there are.
        delta: a gain that matters, as a share of the samples.
        gain: what the whole network gains over frozen blocks in the mean.
        rungs: what each rung above k = 0 shows.
        gaining: how many rungs are shown to gain more than `delta` over every lower one and over
            noise.
        worse_than: k of a rung that the whole network is shown to be worse than; None if none.
        is_idle: whether the blocks that do not earn are shown to be worth less than `delta`.
        bp: the used depth of backpropagation on the same task; None for backpropagation itself,
            and where it was not trained.
        is_bp: whether this is backpropagation itself.
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
        """The blocks of the rungs that earn; a confirming run trains them alone."""
        return tuple(sorted(block for rung in self.rungs if rung.earns for block in rung.blocks))

    @property
    def needs_confirming(self) -> bool:
        """Whether a run that trains the earning blocks alone is a rung of its own."""
        return not are_last(self.earning_blocks, self.blocks)

    @property
    def is_counted(self) -> bool:
        """Whether there are seeds enough to say how many blocks; one seed has its estimate."""
        return self.seeds >= LEAST_SEEDS or (self.seeds == 1 and self.value is not None)

    @property
    def has_ladder(self) -> bool:
        """Whether there are enough rungs to tell anything."""
        return len(self.rungs) >= min(self.blocks, LEAST_RUNGS)

    @property
    def is_told(self) -> bool:
        """Whether the task tells depth: backpropagation is shown to use two rungs of it."""
        bp = self if self.is_bp else self.bp
        if bp is None:
            return False
        used = bp.rungs_in_use if bp.seeds == 1 else bp.low
        return self.has_ladder and bp.has_ladder and used >= LEAST_OF_BP

    @property
    def is_shallow(self) -> bool:
        """Whether fewer rungs may be in use than backpropagation is shown to gain from.

        With one seed, by the estimates.
        """
        if self.bp is None:
            return False
        if self.seeds == 1:
            return self.rungs_in_use < self.bp.rungs_in_use
        return self.rungs_possible < self.bp.gaining

    @property
    def is_deep(self) -> bool:
        """Whether at least as many rungs earn as backpropagation may use.

        With one seed, by the estimates. Backpropagation itself is what depth is measured by.
        """
        if self.bp is None:
            return True
        if self.seeds == 1:
            return self.rungs_in_use >= self.bp.rungs_in_use
        return self.low >= self.bp.rungs_possible

    @property
    def open_rungs(self) -> tuple[int, ...]:
        """K of the rungs that are not shown to earn and may be in use all the same."""
        return () if self.is_idle else tuple(rung.k for rung in self.rungs if not rung.earns)

    def __str__(self) -> str:
        if not self.is_counted:
            return "too few seeds"
        if self.seeds == 1:
            return f"{self.value} of {self.blocks} (single seed)"
        if self.low == self.high:
            return f"{self.low} of {self.blocks}"
        if self.value == self.high:
            return f"{self.value} of {self.blocks} (at least {self.low})"
        return f"{self.low} to {self.high} of {self.blocks}"


def in_words(depth: UsedDepth) -> str:
    """Return used depth as a clause for somebody who sees it for the first time."""
    if 1 < depth.seeds < LEAST_SEEDS:
        return "how many blocks it trains cannot be told from two seeds"
    text = f"trains {depth} blocks"
    if depth.seeds == 1:
        text = f"trains {depth.rungs_in_use} of {depth.blocks} blocks by one seed alone"
    named = ", ".join(map(str, depth.earning_blocks))
    if depth.is_idle and depth.earning_blocks:
        text += f" ({'block' if len(depth.earning_blocks) == 1 else 'blocks'} {named})"
    return text


def are_last(blocks: Sequence[int], of: int) -> bool:
    """Say whether these blocks are the last ones of so many."""
    return list(blocks) == list(range(of - len(blocks), of))
