"""Count the finished steps of a study for the progress bar, by reading the study's folder."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from depthgauge.store.plan_files import CohortPlan
from depthgauge.store.run_folder import newest_common_position
from depthgauge.store.study_folder import StudyFolder

QUICK = 0.05
"""If reading the folder takes fewer seconds than this, it may be repeated at any time."""

PATIENCE = 20
"""If reading the folder took t seconds, wait 20 t before reading it again."""


@dataclass(frozen=True)
class Progress:
    """The progress of some cohorts, in steps summed over their runs.

    Attributes:
        done: the number of finished steps.
        total: the number of all steps.
        labels: the labels of the cohorts that are being trained.
    """

    done: int
    total: int
    labels: tuple[str, ...]


class ProgressReader:
    """Reads the progress of some cohorts from the study's folder, for every executor."""

    def __init__(self, study: StudyFolder, cohorts: Sequence[CohortPlan]) -> None:
        self._study, self._names = study, [cohort.name for cohort in cohorts]
        self._steps_done: dict[str, int] = {}
        self._ended: dict[str, int] = {}
        self._last, self._not_before = Progress(0, 0, ()), 0.0

    def read(self) -> Progress:
        """Return the progress of the cohorts.

        If reading the folder is slow, return the last answer again for some time.
        """
        began = time.monotonic()
        if began >= self._not_before:
            self._last = self._look()
            now = time.monotonic()
            self._not_before = now + PATIENCE * (now - began) if now - began > QUICK else now
        return self._last

    def _look(self) -> Progress:
        cohorts = self._study.plan_files.read().resolve(self._names)
        done, labels = 0, []
        for cohort in cohorts:
            more, label = self._steps_and_label(cohort)
            done += more
            labels += [label] if label else []
        total = sum(len(c.runs) * c.recipe.epochs * self._steps(c) for c in cohorts)
        return Progress(done, total, tuple(dict.fromkeys(labels)))

    def _steps_and_label(self, cohort: CohortPlan) -> tuple[int, str]:
        whole = cohort.recipe.epochs * self._steps(cohort)
        if cohort.name in self._ended:
            return self._ended[cohort.name], ""
        left = len(self._study.open_runs(cohort))
        ended = (len(cohort.runs) - left) * whole
        if not left:
            self._ended[cohort.name] = ended
            return ended, ""
        holder = self._study.claims.holder(cohort.name)
        if holder is None or "steps" not in holder.progress:
            return ended + left * self._saved(cohort), ""
        self._steps_done[cohort.name] = int(holder.progress["steps"])
        return ended + left * self._steps_done[cohort.name], str(holder.progress["label"])

    def _saved(self, cohort: CohortPlan) -> int:
        """Return the number of saved steps of a cohort that no process is training."""
        if cohort.name not in self._steps_done:
            folders = [self._study.run(config) for config in cohort.configs]
            open_folders = [folder for folder in folders if not folder.has_ended]
            position = newest_common_position(open_folders) if open_folders else None
            epoch, step = position or (0, 0)
            self._steps_done[cohort.name] = epoch * self._steps(cohort) + step
        return self._steps_done[cohort.name]

    def _steps(self, cohort: CohortPlan) -> int:
        return self._study.plan_files.read().steps_of(cohort)
