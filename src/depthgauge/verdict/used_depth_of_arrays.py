"""Used depth from plain arrays, for ladders that were trained elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from numpy.typing import ArrayLike
from typing_extensions import TypedDict

from depthgauge.diagnostics.used_depth import UsedDepth
from depthgauge.verdict.paired_test import Scores
from depthgauge.verdict.rung_comparisons import BySeed, LadderScores, scores_of
from depthgauge.verdict.used_depth import find_used_depth


class Bits(TypedDict, total=False):
    """Whether each network is right, sample by sample: a row for each seed, a column per sample."""

    accuracies: Mapping[int, ArrayLike]
    twins: Mapping[int, ArrayLike]
    confirming: ArrayLike
    rest_on_noise: ArrayLike


def used_depth(
    accuracies: Mapping[int, BySeed],
    *,
    twins: Mapping[int, BySeed] | None = None,
    confirming: BySeed | None = None,
    rest_on_noise: BySeed | None = None,
    bits: Bits | None = None,
    samples: int | None = None,
    bp: UsedDepth | None = None,
) -> UsedDepth:
    """Return the used depth of a ladder; the ladder may have been trained without depthgauge.

    Args:
        accuracies: the accuracy of each seed as a share, by k, the number of trained blocks. k = 0
            and the whole network are required.
        twins: the accuracy of each seed of the swap twins, by k. In the twin of rung k, noise of
            the same norm replaces the credit of the blocks that the rung adds to the next lower
            rung. A rung without a twin cannot earn.
        confirming: the accuracy of each seed with only the `earning_blocks` of a first result
            trained. It is needed if `needs_confirming` of the first result is true.
        rest_on_noise: the accuracy of each seed of the whole network, with noise as the credit of
            the blocks that do not earn.
        bits: for each evaluation sample whether the network is right, as arrays with a row for
            each seed. "accuracies" and "twins" have an array for each k; "confirming" and
            "rest_on_noise" are one array each.
        samples: the number of evaluation samples, if there are no `bits`.
        bp: the used depth of backpropagation on the same task; None for backpropagation itself.
    """
    known: Bits = bits or {}

    def by_k(
        name: Literal["accuracies", "twins"], given: Mapping[int, BySeed]
    ) -> dict[int, Scores]:
        rows = known.get(name, {})
        return {k: scores_of(values, rows.get(k), samples) for k, values in given.items()}

    def of_runs(
        name: Literal["confirming", "rest_on_noise"], given: BySeed | None
    ) -> Scores | None:
        return None if given is None else scores_of(given, known.get(name), samples)

    ladder = LadderScores(
        by_k("accuracies", accuracies),
        by_k("twins", twins or {}),
        of_runs("confirming", confirming),
        of_runs("rest_on_noise", rest_on_noise),
    )
    return find_used_depth(ladder, bp)
