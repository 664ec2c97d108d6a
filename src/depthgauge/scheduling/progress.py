"""How far a study is, read off its folder: the same for every executor."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from depthgauge.store.plan_files import CohortPlan
from depthgauge.store.run_folder import newest_common_position
from depthgauge.store.study_folder import StudyFolder

QUICK = 0.05
"""Seconds: quicker looks may be taken at any time."""

PATIENCE = 20
"""A look took t seconds: wait 20 t before the next one."""


@dataclass(frozen=True)
class Progress:
    """Steps of single runs: how many are done of how many, and what is being trained."""

    done: int
    total: int
    labels: tuple[str, ...]


class ProgressReader:
    """Reads how far some cohorts are, as often as it is asked."""

    def __init__(self, study: StudyFolder, cohorts: Sequence[CohortPlan]) -> None:
        self._study, self._names = study, [cohort.name for cohort in cohorts]
        self._behind: dict[str, int] = {}
        self._ended: dict[str, int] = {}
        self._last, self._not_before = Progress(0, 0, ()), 0.0

    def read(self) -> Progress:
        """How far they are now; for a study so large that looking takes time, a little ago."""
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
            more, label = self._of(cohort)
            done += more
            labels += [label] if label else []
        total = sum(len(c.runs) * c.recipe.epochs * self._steps(c) for c in cohorts)
        return Progress(done, total, tuple(dict.fromkeys(labels)))

    def _of(self, cohort: CohortPlan) -> tuple[int, str]:
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
        self._behind[cohort.name] = int(holder.progress["steps"])
        return ended + left * self._behind[cohort.name], str(holder.progress["label"])

    def _saved(self, cohort: CohortPlan) -> int:
        """Steps behind a cohort that nobody is training."""
        if cohort.name not in self._behind:
            folders = [self._study.run(config) for config in cohort.configs]
            open_folders = [folder for folder in folders if not folder.has_ended]
            position = newest_common_position(open_folders) if open_folders else None
            epoch, step = position or (0, 0)
            self._behind[cohort.name] = epoch * self._steps(cohort) + step
        return self._behind[cohort.name]

    def _steps(self, cohort: CohortPlan) -> int:
        return self._study.plan_files.read().steps_of(cohort)
