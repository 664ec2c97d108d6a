"""Sentences on a ladder: which rules gain from depth, by how much, and where accuracy peaks."""

from __future__ import annotations

from itertools import pairwise

from depthgauge.controls import control_in
from depthgauge.diagnostics.depth_utility import LEAST
from depthgauge.number_format import percent, points
from depthgauge.report.texts.floors import floor_sentences, not_above
from depthgauge.report.texts.used_depth import depth_sentences
from depthgauge.results.ladder import Ladder
from depthgauge.verdict.thresholds import Thresholds

WITHOUT_A_LADDER = {
    "shallow": "without any blocks",
    "wide_block": "one block with as many parameters",
    "random_targets": "with nothing to learn",
}
"""Controls for which accuracy by k says nothing about depth, with what they are."""


def ladder_sentences(ladder: Ladder, thresholds: Thresholds | None = None) -> list[str]:
    """Return sentences on each rule's used depth, ladder and diverged rungs, then on the floors.

    A sentence says that a rule gains from depth only if the gain reaches the threshold of the
    diagnostic of depth utility.
    """
    needed = (thresholds or Thresholds())[LEAST.name]
    sentences = []
    for label, rungs in ladder.rules.items():
        sentences += [first] if (first := not_above(ladder.floors, label)) else []
        means = {rung.k: rung.mean for rung in rungs if rung.mean is not None}
        sentences += depth_sentences(label, ladder.used_depth.get(label))
        sentences.append(_sentence(label, means, needed))
        for rung in rungs:
            lost = [f"seed {seed} in epoch {epoch}" for seed, epoch in rung.diverged.items()]
            if lost:
                sentences.append(f"{label} at k = {rung.k} diverged: {', '.join(lost)}.")
    return [*sentences, *floor_sentences(ladder.floors)]


def _sentence(rule: str, means: dict[int, float], needed: float) -> str:
    control = control_in(rule)
    if control in WITHOUT_A_LADDER:
        rungs = ", ".join(f"{percent(mean)} % at k = {k}" for k, mean in means.items())
        return f"{rule}, {WITHOUT_A_LADDER[control]}: {rungs or 'not finished'}."
    if len(means) < 2:  # noqa: PLR2004
        return f"{rule}: a ladder needs at least two finished rungs to be read."
    (low, first), (high, last) = next(iter(means.items())), list(means.items())[-1]
    gain = round(last - first, 11)
    if gain >= needed:
        verb = f"gains {percent(gain)} points from depth:"
    elif gain > -needed:
        verb = f"does not gain from depth ({points(gain)} points):"
    else:
        verb = f"loses {percent(-gain)} points with depth:"
    peak = max(means, key=lambda k: means[k])
    return (
        f"{rule} {verb} {percent(first)} % at k = {low}, {percent(last)} % at k = {high}. "
        f"It peaks at k = {peak} with {percent(means[peak])} % and {_shape(means)}."
    )


def _shape(means: dict[int, float]) -> str:
    steps = list(means.items())
    falls = [
        f"by {percent(before - after)} from k = {a} to {b}"
        for (a, before), (b, after) in pairwise(steps)
        if after < before
    ]
    if falls:
        return f"is not monotone: it falls {', '.join(falls)}"
    rises = all(after > before for (_, before), (_, after) in pairwise(steps))
    return "rises at every rung" if rises else "never falls"
