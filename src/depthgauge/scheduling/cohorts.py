"""Split the runs of a grid into cohorts, and add the cohorts to the study's plan.

A cohort is a group of runs that are trained together.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import islice

from depthgauge.config import NetConfig
from depthgauge.nets.user.sources import reference_of
from depthgauge.registry import file_of, in_file
from depthgauge.scheduling.grid import Grid, PlannedRun, RunList
from depthgauge.store.plan_files import CohortPlan, Plan, PlanFile, PlannedRule
from depthgauge.store.study_folder import StudyFolder
from depthgauge.training.engines import can_be_stacked
from depthgauge.training.trainee import Position

LARGEST = 15
"""The most runs in a cohort; larger cohorts are no faster and need more memory."""


def plan_runs(
    study: StudyFolder,
    grid: Grid | RunList,
    task: str,
    validation: int,
    size: int = LARGEST,
    *,
    done: Collection[str] | None = None,
) -> list[CohortPlan]:
    """Return every cohort that has unfinished runs of the grid; add missing cohorts to the plan.

    Args:
        study: the study's folder, with its plan.
        grid: the runs.
        task: the user's text for the task.
        validation: the number of training samples that are held out.
        size: the most runs in a cohort.
        done: the identities of the runs that are done; by default, looked up in the study's folder.
    """
    runs = _not_done(study, grid, done)
    while True:
        plan = study.plan_files.read()
        known, new = _known_and_new(study, runs, plan, size)
        file = PlanFile(
            task=task,
            validation=validation,
            samples=len(grid.task.train),
            cohorts=new,
            chance=grid.task.chance,
        )
        if not new or study.plan_files.add(plan, file):
            return known + new


def cohorts_left(study: StudyFolder, grid: Grid | RunList, size: int = LARGEST) -> list[CohortPlan]:
    """Return the cohorts that are left to train, as `plan_runs` would plan them.

    Nothing is written. A cohort whose runs have all finished, diverged or failed is left out.
    """
    runs = _not_done(study, grid)
    known, new = _known_and_new(study, runs, study.plan_files.read(), size)
    return [cohort for cohort in known if study.open_runs(cohort)] + new


def _not_done(
    study: StudyFolder, grid: Grid | RunList, done: Collection[str] | None = None
) -> list[PlannedRun]:
    if done is None:
        return [run for run in grid.runs() if not study.is_done(run.identity)]
    return [run for run in grid.runs() if run.identity not in done]


def _known_and_new(
    study: StudyFolder, runs: Sequence[PlannedRun], plan: Plan, size: int
) -> tuple[list[CohortPlan], list[CohortPlan]]:
    """Return the planned cohorts of these runs, and new cohorts for the runs not yet planned."""
    planned = plan.cohort_of
    names = dict.fromkeys(planned[run.identity].name for run in runs if run.identity in planned)
    new = [run for run in runs if run.identity not in planned]
    cohorts = partition(new, size, lambda run: _saved_position(study, run))
    return [plan.cohorts[name] for name in names], cohorts


PositionOf = Callable[[PlannedRun], Position | None]
"""A function that returns the newest saved position of a run; None if the run has not begun."""


def partition(
    runs: Sequence[PlannedRun], size: int = LARGEST, position_of: PositionOf = lambda run: None
) -> list[CohortPlan]:
    """Split runs into cohorts of at most `size` runs that can be trained together.

    All runs that can be trained together form a group (see `group_alike`). The cohorts of a group
    are about equally large. The order of `runs` decides which runs share a cohort, so the runs of a
    seed mostly stay together.
    """
    cohorts = []
    for together in group_alike(runs, position_of):
        rest, most = iter(together), size_for(together[0].kind.net, size)
        for count in even_parts([len(together)], most):
            part = sorted(islice(rest, count), key=lambda run: -run.k)
            cohorts.append(_cohort(part))
    return cohorts


def size_for(net: NetConfig, size: int) -> int:
    """Return the most runs of a network that are trained together: one, unless it is stacked."""
    return size if can_be_stacked(net) else 1


def group_alike(
    runs: Sequence[PlannedRun], position_of: PositionOf = lambda run: None
) -> list[list[PlannedRun]]:
    """Group the runs that can be trained together.

    The runs of a group share the rule's class, the network's shape, the recipe, the blocks that an
    intervention freezes, and the position up to which they were trained.
    """
    groups: dict[tuple[object, ...], list[PlannedRun]] = {}
    for run in runs:
        kind = run.kind
        frozen = kind.intervention.frozen
        shared = (run.choice.rule_class, kind.net.as_text, kind.recipe.as_text, frozen)
        groups.setdefault((*shared, position_of(run)), []).append(run)
    return list(groups.values())


def even_parts(groups: Sequence[int], size: int) -> list[int]:
    """Return the sizes of all parts if each group is split evenly into parts of at most `size`."""
    parts = []
    for group in groups:
        count = -(-group // size)
        parts += [group // count + (number < group % count) for number in range(count)]
    return parts


def _saved_position(study: StudyFolder, run: PlannedRun) -> Position | None:
    if not study.paths(run.identity).path.exists():
        return None
    return max(study.run(run.config).saved(), default=None)


def _with_whole_path(rule: str) -> str:
    """Return the text for a rule with the absolute path of the rule's file, for other processes."""
    path = file_of(rule)
    return rule if path is None else in_file(rule, path.resolve())


def _cohort(runs: Sequence[PlannedRun]) -> CohortPlan:
    kinds = {_rule_key(run): run.kind for run in runs}
    keys = list(kinds)
    shared = runs[0].kind
    return CohortPlan(
        task=shared.task,
        net=shared.net,
        recipe=shared.recipe,
        rules=tuple(
            PlannedRule(
                config=kind.rule,
                typed=_with_whole_path(kind.choice.text),
                intervention=kind.intervention,
            )
            for kind in kinds.values()
        ),
        runs=tuple((keys.index(_rule_key(run)), run.k, run.seed) for run in runs),
        net_typed=_whole_net(shared.net),
    )


def _whole_net(net: NetConfig) -> str:
    """Return the text with which any process of this machine finds a user's network."""
    return reference_of(net.source) if net.source else ""


def _rule_key(run: PlannedRun) -> tuple[str, str]:
    return run.kind.rule.label, run.kind.intervention.as_text
