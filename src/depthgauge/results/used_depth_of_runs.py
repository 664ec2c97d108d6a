"""Compute used depth, the number of blocks that earn accuracy, from the runs of each rule.

The runs are of four sorts. A rung of the ladder trains the last k blocks. In the rung's swap twin,
the blocks that the rung adds are trained on noise. A confirming run trains only the blocks that
earn accuracy. A noise run trains these blocks on credit, and all other blocks on noise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

import numpy as np

from depthgauge.diagnostics.used_depth import UsedDepth
from depthgauge.results.ladder import twins_of
from depthgauge.results.run import RunResult
from depthgauge.verdict.paired_test import Scores
from depthgauge.verdict.rung_comparisons import LadderScores, blocks_added
from depthgauge.verdict.used_depth import find_used_depth


def used_depths(
    rules: Mapping[str, Sequence[RunResult]], chance: float | None
) -> dict[str, UsedDepth]:
    """Return the used depth of every rule that has a ladder, by label.

    `rules` has the runs of each rule. Each rule is compared with the most accurate setting of
    backpropagation under the same control.
    """
    ladders = {
        label: ladder
        for label, runs in rules.items()
        if (ladder := ladder_scores(runs, chance)) is not None
    }
    controls = {label: rules[label][0].control for label in ladders}
    bp = {label for label in ladders if rules[label][0].config.rule.name == "bp"}
    references = {
        control: find_used_depth(
            most_accurate([ladders[label] for label in bp if controls[label] == control])
        )
        for control in {controls[label] for label in bp}
    }
    return {
        label: find_used_depth(
            ladder,
            None if label in bp else references.get(controls[label]),
            is_bp=label in bp,
        )
        for label, ladder in ladders.items()
    }


def ladder_scores(runs: Sequence[RunResult], chance: float | None) -> LadderScores | None:
    """Return the accuracies from which used depth is computed; None without a ladder.

    A ladder needs accuracies with frozen blocks and with all blocks trained.
    """
    if not runs:
        return None
    blocks, rungs = runs[0].config.net.blocks, [run for run in runs if run.config.is_rung]
    by_k = {
        k: scores_of_runs([run for run in rungs if run.config.k == k], chance)
        for k in sorted({run.config.k for run in rungs})
    }
    by_k = {k: scores for k, scores in by_k.items() if scores.accuracies}
    if not blocks or not {0, blocks} <= by_k.keys():
        return None
    added = blocks_added(by_k, blocks)
    twins = {k: scores_of_runs(twins_of(runs, k, own), chance) for k, own in added.items()}
    twins = {k: scores for k, scores in twins.items() if scores.accuracies}
    earning = find_used_depth(LadderScores(by_k, twins)).earning_blocks
    confirming = scores_of_runs(confirming_runs(runs, earning), chance)
    on_noise = scores_of_runs(runs_on_noise(runs, earning), chance)
    return LadderScores(
        by_k,
        twins,
        confirming if confirming.accuracies else None,
        on_noise if on_noise.accuracies else None,
    )


def confirming_runs(runs: Sequence[RunResult], earning: Sequence[int]) -> list[RunResult]:
    """Return the runs that train only the `earning` blocks; rungs of the ladder are left out."""
    return [
        run
        for run in runs
        if run.config.intervention.frozen
        and not run.config.intervention.swapped
        and set(earning) == _trained(run)
    ]


def runs_on_noise(runs: Sequence[RunResult], earning: Sequence[int]) -> list[RunResult]:
    """Return the runs that train the `earning` blocks on credit and all other blocks on noise."""
    return [
        run
        for run in runs
        if run.config.intervention.swapped
        and not run.config.intervention.frozen
        and run.config.k == run.config.net.blocks
        and set(earning) == _trained(run) - set(run.config.intervention.swapped)
    ]


def _trained(run: RunResult) -> set[int]:
    """Return the blocks that a run trains, on credit or on noise."""
    blocks = run.config.net.blocks
    return {*range(blocks - run.config.k, blocks)} - {*run.config.intervention.frozen}


def scores_of_runs(runs: Sequence[RunResult], chance: float | None) -> Scores:
    """Return the accuracies and the right answers of runs, by seed.

    A diverged run gets the accuracy of guessing, and all its answers count as wrong.
    """
    finished = {run.config.seed: run for run in runs if run.accuracy is not None}
    right = {seed: run.right_answers for seed, run in finished.items()}
    known = {seed: flags for seed, flags in right.items() if flags is not None}
    samples = len(next(iter(known.values()))) if known else None
    accuracies = {s: run.accuracy for s, run in finished.items() if run.accuracy is not None}
    for run in runs:
        if run.state == "diverged" and chance is not None:
            accuracies[run.config.seed] = chance
            if samples is not None:
                known[run.config.seed] = np.zeros(samples, dtype=bool)
    return Scores(accuracies, known, samples)


def most_accurate(settings: Iterable[LadderScores]) -> LadderScores:
    """Return the ladder that reaches the highest mean accuracy with all blocks trained."""
    return max(settings, key=lambda ladder: fmean(ladder.full.accuracies.values()))
