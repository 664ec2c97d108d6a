"""The plan that --dry-run prints: every run with its state, and the training to come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from depthgauge.config import SharedConfig
from depthgauge.json_values import plain_object
from depthgauge.number_format import counted
from depthgauge.scheduling.cohorts import cohorts_left
from depthgauge.scheduling.execution import Execution, check_executor, choose_sizes, start_line
from depthgauge.scheduling.grid import Grid, PlannedRun
from depthgauge.scheduling.memory_estimate import planned_bytes
from depthgauge.scheduling.sizing import processes_for
from depthgauge.scheduling.study_status import RunState, state_of
from depthgauge.scheduling.time_estimate import seconds_to_train
from depthgauge.store.study_folder import StudyFolder

GIGABYTE = 1e9


@dataclass(frozen=True)
class PlannedState:
    """One run of a study, and its state; `run` is the path of its folder in the study's folder."""

    label: str
    k: int
    seed: int
    run: str
    state: RunState


@dataclass(frozen=True)
class StudyPlan:
    """The runs of a study, and how the unfinished runs would be trained.

    Attributes:
        folder: the study's folder.
        config: the configuration that all runs share.
        runs: every run with its state.
        cohorts: the number of cohorts that would be trained.
        processes: the number of processes that would train them.
        threads: the number of threads of each process.
        memory_bytes: the estimated memory of the largest process.
        line: the remaining training in one line; empty if nothing is left to train.
    """

    folder: Path
    config: SharedConfig
    runs: Sequence[PlannedState]
    cohorts: int
    processes: int
    threads: int
    memory_bytes: int
    line: str

    def lines(self) -> list[str]:
        """Return the plan as lines of text."""
        lines = [f"{r.label:12} k={r.k} seed={r.seed} {r.run} {r.state}" for r in self.runs]
        finished = sum(run.state in ("finished", "diverged") for run in self.runs)
        lines.append(f"{len(self.runs)} runs in {self.folder}: {finished} finished")
        if self.line:
            cohorts = counted(self.cohorts, "cohort")
            lines.append(f"{self.line}, {self.memory_bytes / GIGABYTE:.1f} GB each: {cohorts}")
        return lines

    def to_dict(self) -> dict[str, JsonValue]:
        """Return the plan for a JSON document."""
        names = ("cohorts", "processes", "threads", "memory_bytes")
        return plain_object(
            {
                "out": self.folder,
                "config": self.config,
                "runs": self.runs,
                "expected": {name: getattr(self, name) for name in names},
            }
        )


def plan_study(grid: Grid, folder: Path, execution: Execution) -> StudyPlan:
    """Return the plan of a study without writing anything."""
    config, device, study = execution.config, execution.device, StudyFolder(folder)
    check_executor(config.executor)
    kind = device.partition(":")[0]
    document = study.check(grid.base, kind, config.threads, config.engine)
    sizing = choose_sizes(study, grid, execution, document)
    cohorts = cohorts_left(study, grid, sizing.runs)
    needs = [planned_bytes(cohort, grid.task) for cohort in cohorts]
    processes = processes_for(needs, sizing.threads, device) if cohorts else 0
    line = ""
    if cohorts:
        left = [(cohort, len(study.open_runs(cohort)), grid.task) for cohort in cohorts]
        is_here = config.executor == "local" and device == "cpu"
        seconds = seconds_to_train(left, processes, sizing.threads) if is_here else None
        where = (sizing.threads, config.executor, processes)
        line = start_line(study, cohorts, *where, seconds=seconds)
    return StudyPlan(
        folder=folder,
        config=grid.base,
        runs=[_state(study, planned) for planned in grid.runs()],
        cohorts=len(cohorts),
        processes=processes,
        threads=sizing.threads,
        memory_bytes=max(needs, default=0),
        line=line,
    )


def _state(study: StudyFolder, planned: PlannedRun) -> PlannedState:
    """Return a run with its state; raise UserError if its result is damaged."""
    folder = study.run(planned.config)
    result = folder.result
    state: RunState = result["status"] if result else state_of(folder)
    run = f"runs/{planned.identity}"
    return PlannedState(planned.kind.rule.label, planned.k, planned.seed, run, state)
