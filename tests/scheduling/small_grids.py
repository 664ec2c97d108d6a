"""Small grids that train in a moment."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from store.small_runs_on_disk import checkpoint_bits
from training.small_runs import make_task

from depthgauge.config import NetConfig, Recipe
from depthgauge.registry import TASKS
from depthgauge.rules.choice import RuleChoice, choose_rule
from depthgauge.rules.contract import Rule
from depthgauge.scheduling import cohort_training
from depthgauge.scheduling.cohort_training import Conditions, train_runs
from depthgauge.scheduling.cohorts import plan_runs
from depthgauge.scheduling.grid import Grid
from depthgauge.scheduling.worker import Job, Worker
from depthgauge.store.plan_files import CohortPlan
from depthgauge.store.study_folder import StudyFolder
from depthgauge.tasks.registry import TaskEntry

TASK = make_task()
NET = NetConfig(width=4, blocks=2)
RECIPE = Recipe(epochs=3, batch_size=36)
STEPS_PER_EPOCH = 2


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
    study.open(planned.base, "cpu", None, 1)
    return study


def plan(study: StudyFolder, planned: Grid) -> list[CohortPlan]:
    """The cohorts with runs of the grid, written into the study."""
    return plan_runs(study, planned, TASK.name, 0)


def train(study: StudyFolder, planned: Grid) -> list[str]:
    """What the command does, in one worker: why runs failed, if any did."""
    names = tuple(cohort.name for cohort in plan(study, planned))
    job = Job(study.path, names, "cpu", threads=1, save_every=0.0, command="depthgauge test")
    with _known_here(planned):
        Worker(job, StudyFolder(job.folder), lambda: False).work()
    failures = [study.run(run.config).failure for run in planned.runs()]
    return [failure["reason"] for failure in failures if failure is not None]


def train_without_claims(
    study: StudyFolder,
    planned: Grid,
    on_step: Callable[[int, int], None] = lambda epoch, steps: None,
) -> None:
    """One cohort after the other, saved after every step; what is raised is not caught."""
    conditions = Conditions("cpu", 0.0, "depthgauge test", on_step)
    for cohort in plan(study, planned):
        left = study.open_runs(cohort)
        if left:
            with _known_here(planned):
                train_runs(study, cohort, left, planned.task, conditions)


@contextmanager
def _known_here(planned: Grid) -> Iterator[None]:
    """The task by its name, and rules that are classes of a test."""
    choices = {choice.text: choice for choice in planned.rules}

    def choose(text: str) -> RuleChoice:
        return choices[text] if text in choices else choose_rule(text)

    entry = TaskEntry("made for tests", lambda: TASK)
    with (
        patch.dict(TASKS.built_in, {TASK.name: entry}),
        patch.object(cohort_training, "choose_rule", choose),
    ):
        yield


def outcome(folder: Path) -> dict[str, Any]:
    """Everything about the finished runs of a study that must not depend on how they were made."""
    found = {}
    for path in folder.glob("runs/*/result.json"):
        result = json.loads(path.read_text())
        del result["provenance"]
        checkpoint = checkpoint_bits(path.with_name("checkpoint.safetensors"))
        found[path.parent.name] = (result, path.with_name("metrics.jsonl").read_bytes(), checkpoint)
    return found
