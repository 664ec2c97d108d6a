"""From a grid of runs to cohorts that are trained together, written into the study's plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice

from depthgauge.rules.registry import file_of_rule, from_file
from depthgauge.store.plan_files import CohortPlan, Plan, PlanFile, PlannedRule
from depthgauge.store.study_folder import StudyFolder
from depthgauge.studies.plan import Grid, PlannedRun
from depthgauge.training.engine import Position

LARGEST = 15
"""Most runs trained together; more than this gains nothing and costs memory."""


def plan_runs(
    study: StudyFolder, grid: Grid, task: str, validation: int, size: int = LARGEST
) -> list[CohortPlan]:
    """Every cohort that has runs of the grid; those that were not planned yet are added.

    Runs that are done need no cohort. `task` is the task as it was typed, `size` the most runs in
    a cohort.
    """
    while True:
        plan = study.plan_files.read()
        known, new = _known_and_new(study, grid, plan, size)
        file = PlanFile(
            task=task,
            validation=validation,
            samples=len(grid.task.train),
            cohorts=new,
            chance=grid.task.chance,
        )
        if not new or study.plan_files.add(plan, file):
            return known + new


def cohorts_left(study: StudyFolder, grid: Grid, size: int = LARGEST) -> list[CohortPlan]:
    """The cohorts that `plan_runs` would give, nothing written; those that have ended left out."""
    known, new = _known_and_new(study, grid, study.plan_files.read(), size)
    return [cohort for cohort in known if study.open_runs(cohort)] + new


def _known_and_new(
    study: StudyFolder, grid: Grid, plan: Plan, size: int
) -> tuple[list[CohortPlan], list[CohortPlan]]:
    """The cohorts in the plan that have runs of the grid, and those of the runs not planned yet."""
    runs = [run for run in grid.runs() if not study.is_done(run.config.identity)]
    names = dict.fromkeys(
        plan.cohort_of[run.config.identity].name
        for run in runs
        if run.config.identity in plan.cohort_of
    )
    new = [run for run in runs if run.config.identity not in plan.cohort_of]
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
            part = sorted(islice(rest, count), key=lambda run: -run.config.k)
            cohorts.append(_cohort(part))
    return cohorts


def alike(runs: Sequence[PlannedRun], begun: Begun = lambda run: None) -> list[list[PlannedRun]]:
    """Runs that can be trained together.

    They share their rule's class, their network's shape, their recipe, and where in training they
    stand: runs that were begun without a plan go on from there.
    """
    groups: dict[tuple[object, ...], list[PlannedRun]] = {}
    for run in runs:
        config = run.config
        shared = (run.choice.rule_class, config.net.as_text, config.recipe.as_text, begun(run))
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
    folder = study.run(run.config)
    return max(folder.saved(), default=None) if folder.path.exists() else None


def _wherever_typed(rule: str) -> str:
    """The rule as any process finds it: files by their whole path."""
    path = file_of_rule(rule)
    return rule if path is None else from_file(rule, path.resolve())


def _cohort(runs: Sequence[PlannedRun]) -> CohortPlan:
    typed = {run.config.rule.label: _wherever_typed(run.choice.text) for run in runs}
    rules = {run.config.rule.label: run.config.rule for run in runs}
    labels = list(rules)
    shared = runs[0].config
    return CohortPlan(
        task=shared.task,
        net=shared.net,
        recipe=shared.recipe,
        rules=tuple(PlannedRule(config=rules[label], typed=typed[label]) for label in labels),
        runs=tuple(
            (labels.index(run.config.rule.label), run.config.k, run.config.seed) for run in runs
        ),
    )
