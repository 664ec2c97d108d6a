"""Small jobs that any process can do: a task and rules in files, a study planned on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from training.small_runs import make_task

from depthgauge.config import NetConfig, Recipe
from depthgauge.rules.choice import choose_rule
from depthgauge.scheduling.cohorts import plan_runs
from depthgauge.scheduling.grid import Grid
from depthgauge.scheduling.worker import Job, Worker
from depthgauge.store.study_folder import StudyFolder
from depthgauge.tasks.registry import load_task

NET = NetConfig(width=4, blocks=2)
RECIPE = Recipe(epochs=3, batch_size=36)
STEPS = 6

RULES_OF_A_USER = """
import os

from depthgauge.rules.contract import RuleOptions
from depthgauge.rules.dfa import DFA


class Works(DFA):
    name = "works"


class Picky(DFA):
    name = "picky"

    class Options(DFA.Options):
        number: int = 0

    def credit(self, context):
        if self.options.number == 13:
            raise ZeroDivisionError("the author divided by zero")
        return super().credit(context)


class Late(Picky):
    name = "late"

    def credit(self, context):
        return super().credit(context) if context.progress > 0.5 else DFA.credit(self, context)


class Dies(DFA):
    name = "dies"

    def credit(self, context):
        os._exit(9)
"""


def write_rules(folder: Path) -> Path:
    path = folder / "rules_of_a_user.py"
    path.write_text(RULES_OF_A_USER)
    return path


def prepare(
    folder: Path, *rules: str, ks: Sequence[int] = (0, 2), seeds: Sequence[int] = (1,)
) -> Job:
    """A study in `folder` with all its cohorts planned; the task lies beside it."""
    task, path = make_task(), folder.parent / "tiny.npz"
    arrays = {f"{part}_train": getattr(task.train, part).numpy() for part in ("x", "y")}
    arrays |= {f"{part}_test": getattr(task.evaluation, part).numpy() for part in ("x", "y")}
    np.savez(path, **arrays)
    grid = Grid(load_task(str(path)), NET, RECIPE, [choose_rule(r) for r in rules], ks, seeds)
    study = StudyFolder(folder)
    study.open(grid.base, "cpu", 1, 1)
    names = tuple(cohort.name for cohort in plan_runs(study, grid, str(path), 0))
    return Job(folder, names, "cpu", threads=1, save_every=0.0, command="depthgauge test")


def again_from_scratch(job: Job, folder: Path) -> Job:
    """The same plan in an empty folder."""
    old, new = StudyFolder(job.folder), StudyFolder(folder)
    new.plan_files.folder.mkdir(parents=True)
    new.study_path.write_bytes(old.study_path.read_bytes())
    for path in old.plan_files.folder.iterdir():
        (new.plan_files.folder / path.name).write_bytes(path.read_bytes())
    return replace(job, folder=folder)


def work(job: Job, stop: Callable[[], bool] = lambda: False) -> StudyFolder:
    """One worker here, until all has ended."""
    Worker(job, StudyFolder(job.folder), stop).work()
    return StudyFolder(job.folder)


def failed_labels(study: StudyFolder) -> list[str]:
    return [folder.config.rule.label for folder in study.all_runs() if folder.failed_path.exists()]


def finished_labels(folder: Path) -> set[str]:
    runs = StudyFolder(folder).all_runs()
    return {run.config.rule.label for run in runs if run.result is not None}
