"""Small grids that train in a moment, and rules that do not train at all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from training.small_runs import make_task

from depthgauge.config import NetConfig, Recipe
from depthgauge.executors.job import Failure, Job
from depthgauge.executors.local import run_here
from depthgauge.rules.choice import RuleChoice, choose_rule
from depthgauge.rules.contract import Context, Credit, Rule
from depthgauge.store.study_folder import StudyFolder
from depthgauge.studies.plan import Grid
from depthgauge.studies.runner import left_to_do

TASK = make_task()
NET = NetConfig(width=4, blocks=2)
RECIPE = Recipe(epochs=3, batch_size=36)
STEPS_PER_EPOCH = 2


class Broken(Rule):
    """A rule with a mistake in it."""

    name = "broken"
    summary = "raises as soon as it is asked"

    def credit(self, context: Context) -> Credit:
        raise ZeroDivisionError("the author divided by zero")


def chosen(rule: str | type[Rule]) -> RuleChoice:
    return (
        choose_rule(rule) if isinstance(rule, str) else RuleChoice(rule, rule.Options(), rule.name)
    )


def grid(
    *rules: str | type[Rule],
    ks: Sequence[int] = (0, 1, 2),
    seeds: Sequence[int] = (1, 2),
    net: NetConfig = NET,
) -> Grid:
    return Grid(TASK, net, RECIPE, [chosen(rule) for rule in rules or ("dfa",)], ks, seeds)


def study_of(planned: Grid, folder: Path) -> StudyFolder:
    study = StudyFolder(folder)
    study.open(planned.base, None, 1)
    return study


def train(
    study: StudyFolder, planned: Grid, on_step: Any = lambda label, steps: None
) -> list[Failure]:
    """What the command does: train what is left, here and one cohort after the other."""
    job = Job(study.path, planned.task.name, 0, "cpu", threads=1, save_every=0.0)
    return run_here(job, left_to_do(study, planned.cohorts()), planned.task, on_step)
