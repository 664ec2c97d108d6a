"""Ladders on disk with swap twins and confirming runs, as if they had been trained."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from results.written_studies import change_json
from scheduling.small_grids import grid, study_of
from store.small_runs_on_disk import finished, started

from depthgauge.config import NO_INTERVENTION, Intervention, NetConfig
from depthgauge.results.load import load
from depthgauge.results.study import StudyResult
from depthgauge.rules.choice import RuleChoice
from depthgauge.scheduling.grid import Grid, PlannedRun
from depthgauge.store.result_file import pack_answers
from depthgauge.store.run_folder import RunFolder

BLOCKS = 4
SEEDS = (1, 2, 3)
CHANCE = 0.1
SPREAD = 0.05
"""Standard deviation between seeds, in points: little beside the gains of these ladders."""

BP = (27.1, 55.7, 64.8, 69.2, 71.2)
BP_TWINS = {1: 29.3, 2: 53.2, 3: 61.5, 4: 66.8}
ONE_BLOCK = (25.5, 61.3, 59.8, 57.4, 52.3)
"""The last block alone is worth something."""
ONE_BLOCK_TWINS = {1: 28.0}
TWO_BLOCKS = (27.1, 27.0, 57.0, 56.9, 65.1)
"""Blocks 2 and 0 are worth something, 3 and 1 nothing."""
TWO_BLOCKS_TWINS = {2: 27.1, 4: 57.0}


class WrittenLadders:
    """A study whose runs end as a test says, without training."""

    def __init__(
        self,
        folder: Path,
        *rules: str,
        ks: Sequence[int] = range(BLOCKS + 1),
        seeds: Sequence[int] = SEEDS,
    ) -> None:
        net = NetConfig(width=4, blocks=max(ks))
        self.grid: Grid = grid(*rules, ks=ks, seeds=seeds, net=net)
        self.study = study_of(self.grid, folder)

    def choice(self, rule: str) -> RuleChoice:
        """A rule of the grid."""
        return next(choice for choice in self.grid.rules if choice.text == rule)

    def runs(
        self, rule: str, k: int, intervention: Intervention = NO_INTERVENTION
    ) -> list[PlannedRun]:
        """One run for each seed."""
        return self.grid.with_intervention(self.choice(rule), k, intervention)

    def ladder(self, rule: str, points: Sequence[float], twins: Mapping[int, float]) -> None:
        """A rule's rungs, one for each of the grid's k, and the twins of those that have one."""
        ks = sorted(self.grid.ks)
        for k, own in zip(ks, points, strict=True):
            self.end(self.runs(rule, k), own)
        self.end_twins(rule, twins)

    def end_twins(self, rule: str, twins: Mapping[int, float]) -> None:
        """The twins of some rungs, by k."""
        for k, points in twins.items():
            self.end(self.twins(rule, k), points)

    def twins(self, rule: str, k: int) -> list[PlannedRun]:
        """The swap twins of rung k."""
        blocks, lower = max(self.grid.ks), max(below for below in self.grid.ks if below < k)
        return self.runs(rule, k, Intervention(swapped=tuple(range(blocks - k, blocks - lower))))

    def end(self, runs: Iterable[PlannedRun], points: float) -> None:
        """Finish these runs with so many points, a little apart."""
        for run in runs:
            drawn = np.random.default_rng(int(run.identity, 16)).normal(0, SPREAD)
            finished(self.study.runs, run.config, (points + drawn) / 100)

    def end_with(self, run: PlannedRun, right: NDArray[np.bool_]) -> None:
        """Finish a run that names these evaluation samples rightly."""
        done = finished(self.study.runs, run.config, float(right.mean()))
        change_json(done.result_path, right=pack_answers(right))

    def diverge(self, runs: Iterable[PlannedRun]) -> None:
        """End these runs in their first epoch."""
        for run in runs:
            finished(self.study.runs, run.config, 0.0, diverged_in=1)

    def fail(self, runs: Iterable[PlannedRun]) -> None:
        """End these runs with an error."""
        for run in runs:
            started(self.study.runs, run.config, 1).fail("no luck", "Traceback", {})

    def begin(self, run: PlannedRun) -> RunFolder:
        """Stop a run after its first epoch."""
        return started(self.study.runs, run.config, 1)

    def load(self) -> StudyResult:
        """The study as it is now."""
        return replace(load(self.study.path), chance=CHANCE)
