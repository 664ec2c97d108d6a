"""The accuracies of a ladder, and each rung compared with the lower rungs and its swap twin.

Rung k trains the last k blocks of the network. The swap twin of rung k differs in one way: noise of
the same norm replaces the credit of the blocks that rung k adds to the next lower rung.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from depthgauge.errors import UserError
from depthgauge.verdict.paired_test import Comparison, Scores, compare

BySeed: TypeAlias = Sequence[float] | Mapping[int, float]
"""Accuracies as shares: a list, always in the same order of seeds, or a mapping from seeds."""


@dataclass(frozen=True)
class LadderScores:
    """The accuracies from which used depth is computed.

    Attributes:
        rungs: the scores of the rungs, by k. k = 0 and the whole network are required.
        twins: the scores of the swap twins, by k. A rung without a twin cannot earn.
        confirming: the scores with only the earning blocks trained. They are not needed if the
            earning blocks are the last blocks, because a rung trains the last blocks alone.
        rest_on_noise: the scores of the whole network, with noise as the credit of the blocks that
            do not earn.
    """

    rungs: Mapping[int, Scores]
    twins: Mapping[int, Scores]
    confirming: Scores | None = None
    rest_on_noise: Scores | None = None

    def __post_init__(self) -> None:
        if 0 not in self.rungs or len(self.rungs) < 2:  # noqa: PLR2004
            raise UserError(
                "a ladder needs k = 0 and at least one k above 0; give accuracies for both"
            )

    @property
    def ks(self) -> list[int]:
        """Return k of each rung above k = 0, in rising order."""
        return sorted(self.rungs)[1:]

    @property
    def full(self) -> Scores:
        """Return the scores of the whole network."""
        return self.rungs[self.ks[-1]]

    @cached_property
    def over_lower(self) -> Mapping[int, Mapping[int, Comparison]]:
        """Return the comparison of each rung with every lower rung."""
        rungs = self.rungs
        return {k: {j: compare(rungs[k], rungs[j]) for j in rungs if j < k} for k in self.ks}

    @cached_property
    def over_noise(self) -> Mapping[int, Comparison]:
        """Return the comparison of each rung with its twin; rungs without a twin are left out."""
        return {k: compare(self.rungs[k], twin) for k, twin in self.twins.items()}

    def added(self, k: int) -> tuple[int, ...]:
        """Return the blocks that rung k adds to the rung below."""
        return blocks_added(self.rungs, self.ks[-1])[k]


def blocks_added(ks: Iterable[int], blocks: int) -> dict[int, tuple[int, ...]]:
    """Return by k the blocks that rung k adds to the next lower rung.

    `blocks` is the number of blocks of the network.
    """
    return {k: tuple(range(blocks - k, blocks - below)) for below, k in pairwise(sorted(ks))}


def scores_of(given: BySeed, bits: ArrayLike | None = None, samples: int | None = None) -> Scores:
    """Make scores of accuracies; `bits` has a row for each seed and a column for each sample."""
    accuracies = dict(given) if isinstance(given, Mapping) else dict(enumerate(given))
    wrong = [value for value in accuracies.values() if not value <= 1]
    if wrong:
        raise UserError(
            f"an accuracy is {wrong[0]}; give accuracies as shares from 0 to 1, or R² up to 1"
        )
    if bits is None:
        return Scores(accuracies, samples=samples)
    rows = np.asarray(bits, dtype=bool)
    if rows.ndim != 2 or len(rows) != len(accuracies):  # noqa: PLR2004
        raise UserError(
            f"bits have the shape {rows.shape}; give a row for each of the {len(accuracies)} seeds"
        )
    return Scores(accuracies, dict(zip(accuracies, rows, strict=True)), rows.shape[1])
