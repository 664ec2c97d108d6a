"""A worker: claims one cohort after the other and trains it, until none is left.

Every executor runs this, in one process or in many, on one machine or on several that share the
study's folder. Workers know nothing of each other: what one has claimed or finished, the others
see in the folder.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from depthgauge.config import Engine
from depthgauge.errors import StoreError, UserError, one_line, storing
from depthgauge.scheduling.cohort_training import Conditions, train_runs
from depthgauge.store.claims import Claim, Progress
from depthgauge.store.plan_files import CohortPlan
from depthgauge.store.provenance import environment
from depthgauge.store.run_folder import newest_common_position
from depthgauge.store.study_folder import StudyFolder
from depthgauge.tasks.base import Task
from depthgauge.tasks.registry import load_task
from depthgauge.training.loop import StoppedEarlyError
from depthgauge.training.memory import give_freed_memory_back, keep_freed_memory

LOOK_EVERY = 1.0
"""Seconds between two looks at cohorts that others are training."""

Tasks = Mapping[tuple[str, int], Task]
"""Tasks that are loaded already, by their name as typed and the size of their validation split."""


@dataclass(frozen=True)
class Job:
    """Train these cohorts of the plan in `folder`, or what stands in their place."""

    folder: Path
    cohorts: tuple[str, ...]
    device: str
    threads: int
    save_every: float
    command: str
    engine: Engine = "cohort"


class CohortProgress:
    """How far a cohort is, as it stands in its claim."""

    def __init__(self, cohort: CohortPlan, runs: int, total: int) -> None:
        self._began = time.monotonic()
        self._known: Progress = {"label": cohort.label, "runs": runs, "total": total}
        self._steps: Progress = {}

    def on_step(self, epoch: int, steps: int) -> None:
        """So many epochs, and steps in all, are done."""
        first = self._steps.get("first", steps - 1)
        self._steps = {"first": first, "epoch": epoch, "steps": steps}

    def so_far(self) -> Progress:
        """Return what the claim says now."""
        return {**self._known, **self._steps, "seconds": time.monotonic() - self._began}


class Worker:
    """Works on a job until everything in it has ended, or `stop` says so; `tasks` are at hand."""

    def __init__(
        self, job: Job, study: StudyFolder, stop: Callable[[], bool], tasks: Tasks | None = None
    ) -> None:
        self.job, self._study, self._stop = job, study, stop
        self._tasks = tasks or {}
        self._refused: dict[str, str] = {}

    def work(self) -> None:
        """Train what nobody else trains, wait for what others do.

        Raises:
            StoppedEarlyError: it was asked to stop, and has saved where it stands.
            UserError: cohorts are left that cannot be trained until the user mends something.
        """
        keep_freed_memory()
        while left := self._left():
            trained = [self._claim_and_train(cohort) for cohort in left]
            if not any(trained):
                time.sleep(LOOK_EVERY)
                if self._stop():
                    raise StoppedEarlyError
        if self._refused:
            raise UserError("; ".join(dict.fromkeys(self._refused.values())))

    def _left(self) -> list[CohortPlan]:
        """The cohorts to do, those that nobody has tried yet first: some may kill who tries."""
        left = [
            cohort
            for cohort in self._study.open_cohorts(self.job.cohorts)
            if cohort.name not in self._refused
        ]
        return sorted(left, key=lambda cohort: self._study.claims.tries(cohort.name))

    def _claim_and_train(self, cohort: CohortPlan) -> bool:
        """Train a cohort if it is free; whether it was."""
        if self._stop():
            raise StoppedEarlyError
        if not self._study.open_runs(cohort):
            return True
        claim = self._study.claims.take(cohort.name)
        if claim is None:
            return False
        try:
            if self._is_in_effect(cohort):
                self._train(cohort, claim)
        finally:
            claim.release()
        if not self._is_in_effect(cohort) or not self._study.open_runs(cohort):
            self._study.claims.forget(cohort.name)
        return True

    def _is_in_effect(self, cohort: CohortPlan) -> bool:
        """Whether nothing stands in its place."""
        return self._study.plan_files.read().resolve([cohort.name]) == [cohort]

    def _train(self, cohort: CohortPlan, claim: Claim) -> None:
        """All its runs together, or what is left of them.

        Runs whose results alone are missing do not go back with others that have to.
        """
        left, whole = self._study.open_runs(cohort), len(cohort.runs)
        with storing():
            ended = [one for one in left if len(left) < whole and self._is_at_the_end(cohort, one)]
        for runs in (ended, [one for one in left if one not in ended]):
            if runs and claim.is_held() and self._is_in_effect(cohort):
                self._train_runs(cohort, runs, claim)

    def _is_at_the_end(self, cohort: CohortPlan, position: int) -> bool:
        folder, end = self._study.run(cohort.configs[position]), (cohort.recipe.epochs, 0)
        return newest_common_position([folder]) == end and folder.load(end) is not None

    def _train_runs(self, cohort: CohortPlan, left: list[int], claim: Claim) -> None:
        steps = self._study.plan_files.read().steps_of(cohort)
        progress = CohortProgress(cohort, len(left), cohort.recipe.epochs * steps)
        claim.keep_alive(progress.so_far)

        conditions = Conditions(
            self.job.device,
            self.job.save_every,
            self.job.command,
            progress.on_step,
            lambda: claim.lost or self._stop(),
            claim.is_held,
            self.job.engine,
        )
        try:
            train_runs(self._study, cohort, left, self._task(cohort), conditions)
            return
        except StoppedEarlyError:
            if self._stop():
                raise
        except StoreError:
            raise
        except UserError as error:
            self._refused[cohort.name] = str(error)
        except Exception as error:
            if claim.is_held():
                self._set_apart(cohort, left, error)
        give_freed_memory_back()

    def _task(self, cohort: CohortPlan) -> Task:
        typed = self._study.plan_files.read().task_of(cohort)
        if typed not in self._tasks:
            with storing():
                self._tasks = {typed: load_task(*typed)}
        return self._tasks[typed]

    def _set_apart(self, cohort: CohortPlan, left: list[int], error: Exception) -> None:
        """A run that raises must not stop the others: halve the cohort until it stands alone.

        Runs that were too many for the memory are as few as fit then, and go on.
        """
        if len(left) == 1:
            folder = self._study.run(cohort.configs[left[0]])
            folder.create()
            folder.fail(one_line(error), traceback.format_exc(), environment())
            return
        middle = len(left) // 2
        others = [one for one in self._study.open_runs(cohort) if one not in left]
        parts = [cohort.part(part) for part in (left[:middle], left[middle:], others) if part]
        while True:
            plan = self._study.plan_files.read()
            file = plan.file_of(cohort).with_cohorts(parts)
            if plan.resolve([cohort.name]) != [cohort] or self._study.plan_files.add(plan, file):
                return
