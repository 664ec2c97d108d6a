"""The worker that every executor runs: it claims and trains one cohort after another.

Several workers may run at once, on one machine or on several machines that share the study's
folder. Workers do not talk to each other: each worker sees in the folder what other workers have
claimed or finished.
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
"""Seconds after which a worker without work looks again for cohorts that it can claim."""

Tasks = Mapping[tuple[str, int], Task]
"""Tasks that are already loaded, by (user's text for the task, number of held-out samples)."""


@dataclass(frozen=True)
class Job:
    """What a worker gets: the study's folder, the names of cohorts to train, and how to train them.

    If a cohort was split, its parts are trained instead.
    """

    folder: Path
    cohorts: tuple[str, ...]
    device: str
    threads: int
    save_every: float
    command: str
    engine: Engine = "cohort"


class CohortProgress:
    """Counts the steps and seconds of a cohort in training, to be written into its claim."""

    def __init__(self, cohort: CohortPlan, runs: int, total: int) -> None:
        self._began = time.monotonic()
        self._known: Progress = {"label": cohort.label, "runs": runs, "total": total}
        self._steps: Progress = {}

    def on_step(self, epoch: int, steps: int) -> None:
        """Store the numbers of finished epochs and steps."""
        first = self._steps.get("first", steps - 1)
        self._steps = {"first": first, "epoch": epoch, "steps": steps}

    def measure(self) -> Progress:
        """Return the present progress, as it is written into the claim."""
        return {**self._known, **self._steps, "seconds": time.monotonic() - self._began}


class Worker:
    """Trains the cohorts of a job until all their runs have ended, or `stop` returns True."""

    def __init__(
        self, job: Job, study: StudyFolder, stop: Callable[[], bool], tasks: Tasks | None = None
    ) -> None:
        self.job, self._study, self._stop = job, study, stop
        self._tasks = tasks or {}
        self._refused: dict[str, str] = {}

    def work(self) -> None:
        """Train every cohort that no other process trains; wait until the other cohorts have ended.

        Raises:
            StoppedEarlyError: the worker was asked to stop; everything is saved.
            UserError: some cohorts cannot be trained until the user corrects the named fault.
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
        """Return the cohorts with unfinished runs, the least often claimed cohort first.

        If a cohort kills every process that trains it, the cohort is claimed often. So it comes
        after the other cohorts.
        """
        left = [
            cohort
            for cohort in self._study.open_cohorts(self.job.cohorts)
            if cohort.name not in self._refused
        ]
        return sorted(left, key=lambda cohort: self._study.claims.tries(cohort.name))

    def _claim_and_train(self, cohort: CohortPlan) -> bool:
        """Train a cohort if it can be claimed; return False if another process has claimed it."""
        if self._stop():
            raise StoppedEarlyError
        if not self._study.open_runs(cohort):
            return True
        claim = self._study.claims.take(cohort.name)
        if claim is None:
            return False
        try:
            if self._is_whole(cohort):
                self._train(cohort, claim)
        finally:
            claim.release()
        if not self._is_whole(cohort) or not self._study.open_runs(cohort):
            self._study.claims.forget(cohort.name)
        return True

    def _is_whole(self, cohort: CohortPlan) -> bool:
        """Return whether the cohort has not been split into parts."""
        return self._study.plan_files.read().resolve([cohort.name]) == [cohort]

    def _train(self, cohort: CohortPlan, claim: Claim) -> None:
        """Train the unfinished runs of a cohort together.

        If the cohort was interrupted while results were written, some runs are trained to the end
        and lack only their result. The trained runs are finished first, apart from the other runs.
        Together with the other runs, they would go back to the last position that all runs saved.
        """
        left, ended = self._study.open_runs(cohort), list[int]()
        with storing():
            if len(left) < len(cohort.runs):
                ended = [position for position in left if self._is_trained(cohort, position)]
        for runs in (ended, [position for position in left if position not in ended]):
            if runs and claim.is_held() and self._is_whole(cohort):
                self._train_runs(cohort, runs, claim)

    def _is_trained(self, cohort: CohortPlan, position: int) -> bool:
        """Return whether a run is trained to the end: its last checkpoint exists, undamaged."""
        folder, end = self._study.run(cohort.configs[position]), (cohort.recipe.epochs, 0)
        return newest_common_position([folder]) == end and folder.load(end) is not None

    def _train_runs(self, cohort: CohortPlan, left: list[int], claim: Claim) -> None:
        steps = self._study.plan_files.read().steps_of(cohort)
        progress = CohortProgress(cohort, len(left), cohort.recipe.epochs * steps)
        claim.keep_alive(progress.measure)

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
                self._split(cohort, left, error)
        give_freed_memory_back()

    def _task(self, cohort: CohortPlan) -> Task:
        typed = self._study.plan_files.read().task_of(cohort)
        if typed not in self._tasks:
            with storing():
                self._tasks = {typed: load_task(*typed)}
        return self._tasks[typed]

    def _split(self, cohort: CohortPlan, left: list[int], error: Exception) -> None:
        """Split a cohort in two after an error; if it has a single run, write `failed.json`.

        So only the run that raises the error fails, and the other runs continue. A cohort that was
        too large for the memory is split until its parts fit.
        """
        if len(left) == 1:
            folder = self._study.run(cohort.configs[left[0]])
            folder.create()
            folder.fail(one_line(error), traceback.format_exc(), environment())
            return
        middle = len(left) // 2
        others = [run for run in self._study.open_runs(cohort) if run not in left]
        parts = [cohort.part(part) for part in (left[:middle], left[middle:], others) if part]
        while True:
            plan = self._study.plan_files.read()
            file = plan.file_of(cohort).with_cohorts(parts)
            if plan.resolve([cohort.name]) != [cohort] or self._study.plan_files.add(plan, file):
                return
