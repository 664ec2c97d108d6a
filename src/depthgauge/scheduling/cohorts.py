"""From a grid of runs to cohorts that are trained together, written into the study's plan."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import islice

from depthgauge.registry import file_of, in_file
from depthgauge.scheduling.grid import Grid, PlannedRun, RunList
from depthgauge.store.plan_files import CohortPlan, Plan, PlanFile, PlannedRule
from depthgauge.store.study_folder import StudyFolder
from depthgauge.training.loop import Position

LARGEST = 15
"""Most runs trained together; more than this gains nothing and costs memory."""


def plan_runs(
    study: StudyFolder,
    grid: Grid | RunList,
    task: str,
    validation: int,
    size: int = LARGEST,
    *,
    done: Collection[str] | None = None,
) -> list[CohortPlan]:
    """Every cohort that has runs of the grid; those that were not planned yet are added.

    Runs that are done need no cohort; `done` where that was looked up already. `task` is the task
    as it was typed, `size` the most runs in a cohort.
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
    """The cohorts that `plan_runs` would give, nothing written; those that have ended left out."""
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
    """The cohorts in the plan that have these runs, and those of the runs not planned yet."""
    planned = plan.cohort_of
    names = dict.fromkeys(planned[run.identity].name for run in runs if run.identity in planned)
    new = [run for run in runs if run.identity not in planned]
    cohorts = partition(new, size, lambda run: _begun(study, run))
    return [plan.cohorts[name] for name in names], cohorts


Begun = Callable[[PlannedRun], Position | None]


def partition(
    runs: Sequence[PlannedRun], size: int = LARGEST, begun: Begun = lambda run: None
) -> list[CohortPlan]:
    """Runs that are alike together, whole seeds first, in even cohorts of at most `size`."""
    cohorts = []
    for together in alike(runs, begun):
        rest = iter(together)
        for count in even_parts([len(together)], size):
            part = sorted(islice(rest, count), key=lambda run: -run.k)
            cohorts.append(_cohort(part))
    return cohorts


def alike(runs: Sequence[PlannedRun], begun: Begun = lambda run: None) -> list[list[PlannedRun]]:
    """Runs that can be trained together.

    They share their rule's class, their network's shape, their recipe, the blocks that are frozen
    whatever k, and where in training they stand: runs that were begun without a plan go on from
    there.
    """
    groups: dict[tuple[object, ...], list[PlannedRun]] = {}
    for run in runs:
        kind = run.kind
        frozen = kind.intervention.frozen
        shared = (run.choice.rule_class, kind.net.as_text, kind.recipe.as_text, frozen, begun(run))
        groups.setdefault(shared, []).append(run)
    return list(groups.values())


def even_parts(groups: Sequence[int], size: int) -> list[int]:
    """Each group in as few parts of at most `size` as there can be, as equal as can be."""
    parts = []
    for group in groups:
        count = -(-group // size)
        parts += [group // count + (number < group % count) for number in range(count)]
    return parts


def _begun(study: StudyFolder, run: PlannedRun) -> Position | None:
    if not study.paths(run.identity).path.exists():
        return None
    return max(study.run(run.config).saved(), default=None)


def _wherever_typed(rule: str) -> str:
    """The rule as any process finds it: files by their whole path."""
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
                typed=_wherever_typed(kind.choice.text),
                intervention=kind.intervention,
            )
            for kind in kinds.values()
        ),
        runs=tuple((keys.index(_rule_key(run)), run.k, run.seed) for run in runs),
    )


def _rule_key(run: PlannedRun) -> tuple[str, str]:
    return run.kind.rule.label, run.kind.intervention.as_text
