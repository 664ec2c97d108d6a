"""The runs that are trained after the ladders, to measure used depth.

Used depth is the number of blocks that earn accuracy. A block earns if training it is better than
leaving it untrained, and better than training it on noise.
"""

from __future__ import annotations

from collections.abc import Sequence

from depthgauge.config import Intervention
from depthgauge.diagnostics.used_depth import LEAST_SEEDS, UsedDepth
from depthgauge.results.run import RunResult
from depthgauge.results.study import StudyResult
from depthgauge.results.used_depth_of_runs import ladder_scores, most_accurate
from depthgauge.rules.choice import RuleChoice
from depthgauge.scheduling.grid import Grid, PlannedRun, RunList
from depthgauge.verdict.rung_comparisons import LadderScores
from depthgauge.verdict.used_depth import find_used_depth, twins_needed


def find_next_runs(study: StudyResult, grid: Grid) -> RunList | None:
    """Return the runs that must be trained next to measure used depth; None if no run is needed.

    There are three stages. A stage begins when all rules have finished the stage before.

    1. Swap twins of each rung that is more accurate than every lower rung. A swap twin repeats the
       rung with noise as the credit of the blocks that the rung adds.
    2. Confirming runs, which train only the blocks that earn accuracy.
    3. Noise runs, which train the whole network with noise as the credit of the other blocks. They
       are needed if the confirming runs do not show that the other blocks are idle.

    Runs that have ended are not returned again.
    """
    runs = {choice.label: _runs_of(study, grid, choice) for choice in grid.rules}
    ladders = {label: ladder_scores(own, study.chance) for label, own in runs.items()}
    ended = {run.identity for run in study.runs if run.has_ended}
    stages = (_twins, _confirming, _rest_on_noise)
    names = ("swap twin", "confirming run", "noise run")
    for stage, noun in zip(stages, names, strict=True):
        needed: list[PlannedRun] = []
        for choice in grid.rules:
            ladder = ladders[choice.label]
            if ladder is not None:
                reference = _reference(grid, ladders, choice)
                needed += stage(grid, choice, ladder, reference)
        left = [run for run in needed if run.identity not in ended]
        if left:
            return RunList(grid.task, grid.base, left, noun)
    return None


def _runs_of(study: StudyResult, grid: Grid, choice: RuleChoice) -> list[RunResult]:
    """Return all runs with the rule and setting of `choice` and with the seeds of the grid."""
    kind = (grid.task.config, choice.net(grid.net), choice.config, choice.recipe(grid.recipe))
    return [
        run
        for run in study.runs
        if (run.config.task, run.config.net, run.config.rule, run.config.recipe) == kind
        and run.config.seed in grid.seeds
    ]


def _reference(
    grid: Grid, ladders: dict[str, LadderScores | None], choice: RuleChoice
) -> UsedDepth | None:
    """Return the used depth of backpropagation under the control of `choice`.

    Return None if `choice` is backpropagation itself, or if backpropagation has no ladder.
    """
    if choice.rule_class.name == "bp":
        return None
    same = [
        ladder
        for other in grid.rules
        if other.rule_class.name == "bp" and other.control == choice.control
        if (ladder := ladders[other.label]) is not None
    ]
    return find_used_depth(most_accurate(same)) if same else None


def _twins(
    grid: Grid, choice: RuleChoice, ladder: LadderScores, bp: UsedDepth | None
) -> list[PlannedRun]:
    """Return the swap twins that can change the used depth of a rule."""
    needed = twins_needed(ladder, bp.delta if bp else None)
    return [
        run
        for k in needed
        for run in grid.with_intervention(choice, k, Intervention(swapped=ladder.added(k)))
    ]


def _confirming(
    grid: Grid, choice: RuleChoice, ladder: LadderScores, bp: UsedDepth | None
) -> list[PlannedRun]:
    """Return runs that train only the blocks that earn; none if a rung trains just these blocks."""
    depth = find_used_depth(ladder, bp)
    if not depth.low or not depth.needs_confirming:
        return []
    k = depth.blocks - depth.earning_blocks[0]
    rest = _rest(depth, range(depth.earning_blocks[0], depth.blocks))
    return grid.with_intervention(choice, k, Intervention(frozen=rest))


def _rest_on_noise(
    grid: Grid, choice: RuleChoice, ladder: LadderScores, bp: UsedDepth | None
) -> list[PlannedRun]:
    """Return runs of the whole network with noise as the credit of the blocks that do not earn.

    Return no runs if these blocks are shown to be idle, if every block earns, or if there are too
    few seeds.
    """
    depth = find_used_depth(ladder, bp)
    if depth.seeds < LEAST_SEEDS or depth.is_idle or len(depth.earning_blocks) == depth.blocks:
        return []
    rest = _rest(depth, range(depth.blocks))
    return grid.with_intervention(choice, depth.blocks, Intervention(swapped=rest))


def _rest(depth: UsedDepth, blocks: Sequence[int]) -> tuple[int, ...]:
    """Return `blocks` without the blocks that earn accuracy."""
    return tuple(block for block in blocks if block not in depth.earning_blocks)
