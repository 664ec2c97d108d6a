"""The status of a study, for `depthgauge status`: counts of runs by state, and cohorts in training.

For accuracies and alarms during training, see `live_status.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from depthgauge.config import SCHEMA_VERSION
from depthgauge.store.claims import ClaimFile, Claims
from depthgauge.store.files import read_small
from depthgauge.store.plan_files import CohortPlan
from depthgauge.store.result_file import has_diverged
from depthgauge.store.run_paths import RunPaths
from depthgauge.store.study_folder import read_study

RunState = Literal["finished", "diverged", "failed", "running", "stopped", "waiting"]
"""The state of a run. A stopped run has begun but no process trains it; a waiting run has not."""


@dataclass(frozen=True)
class RunningCohort:
    """A cohort that a process is training.

    Attributes:
        cohort: the cohort's name.
        label: the labels of its rules.
        runs: the number of its runs in training.
        where: the machine and the process.
        epoch: the number of finished epochs.
        epochs: the number of all epochs.
        seconds_left: the time left at the present speed; None if the speed is not known yet.
        silent_for: the seconds since the process last gave a sign of life.
    """

    cohort: str
    label: str
    runs: int
    where: str
    epoch: int
    epochs: int
    seconds_left: float | None
    silent_for: float

    @property
    def epochs_left(self) -> int:
        """The number of epochs that are left to train, summed over the cohort's runs."""
        return self.runs * (self.epochs - self.epoch)


@dataclass(frozen=True)
class FailedRun:
    """A run that raised an error, which is the `reason`; `run` is the run's identity."""

    run: str
    label: str
    rung: str
    seed: int
    reason: str


def state_of(run: RunPaths, *, held: bool = False) -> RunState:
    """Return the state of a run; `held` says whether a process has claimed its cohort."""
    try:
        return "diverged" if has_diverged(read_small(str(run.result_path))) else "finished"
    except FileNotFoundError:
        pass
    if run.failed_path.exists():
        return "failed"
    if held:
        return "running"
    return "stopped" if run.path.exists() else "waiting"


@dataclass(frozen=True)
class StudyStatus:
    """The status of a study.

    Attributes:
        study: the study's folder.
        runs: the number of runs in each state.
        running: the cohorts in training.
        failed: the runs that raised an error.
        seconds_left: the time left at the present speed; None if nothing is running.
        schema_version: the version of the JSON document's form.
    """

    study: str
    runs: dict[RunState, int]
    running: tuple[RunningCohort, ...]
    failed: tuple[FailedRun, ...]
    seconds_left: float | None
    schema_version: int = SCHEMA_VERSION


def status_of(folder: Path) -> StudyStatus:
    """Return the status of the study in a folder."""
    study, _ = read_study(folder)
    plan, claims, runs = study.plan_files.read(), study.claims, study.runs
    counts: dict[RunState, int] = dict.fromkeys(get_args(RunState), 0)
    running: list[RunningCohort] = []
    failed: list[FailedRun] = []
    planned: set[str] = set()
    for cohort in plan.current:
        planned.update(cohort.identities)
        holder = claims.holder(cohort.name)
        paths = [RunPaths(runs / identity) for identity in cohort.identities]
        states = [state_of(path, held=bool(holder)) for path in paths]
        for position, state in enumerate(states):
            counts[state] += 1
            failed += [_failed(cohort, position, runs)] if state == "failed" else []
        if holder and "running" in states:
            running.append(_running(cohort, holder, claims))
    for run in _outside_the_plan(runs, planned):
        counts[state_of(run)] += 1
    left = _seconds_left(plan.current, running, folder)
    return StudyStatus(str(folder), counts, tuple(running), tuple(failed), left)


def _outside_the_plan(runs: Path, planned: set[str]) -> Iterator[RunPaths]:
    """Yield the runs that are in no plan: runs of old versions, and runs copied into the folder."""
    for path in runs.iterdir() if runs.is_dir() else ():
        if path.name not in planned and path.is_dir():
            yield RunPaths(path)


def _failed(cohort: CohortPlan, position: int, runs: Path) -> FailedRun:
    config = cohort.configs[position]
    failure = RunPaths(runs / config.identity).failure
    reason = str(failure and failure.get("reason"))
    return FailedRun(config.identity, config.rule.label, config.rung, config.seed, reason)


def _running(cohort: CohortPlan, holder: ClaimFile, claims: Claims) -> RunningCohort:
    progress = holder.progress
    timed = "seconds" in progress and "steps" in progress
    done = progress["steps"] - progress["first"] if timed else 0
    left = progress["total"] - progress["steps"] if timed else 0
    return RunningCohort(
        cohort.name,
        cohort.label,
        int(progress.get("runs", len(cohort.runs))),
        str(holder.owner),
        int(progress.get("epoch", 0)),
        cohort.recipe.epochs,
        progress["seconds"] * left / done if done > 0 else None,
        claims.silent_for(cohort.name),
    )


def _seconds_left(
    cohorts: list[CohortPlan], running: list[RunningCohort], folder: Path
) -> float | None:
    """Return the seconds until all runs end, at the present speed; None if nothing is running."""
    speed = sum(
        cohort.epochs_left / cohort.seconds_left for cohort in running if cohort.seconds_left
    )
    if not speed:
        return None
    by_name = {cohort.cohort: cohort for cohort in running}
    left = 0
    for cohort in cohorts:
        if cohort.name in by_name:
            left += by_name[cohort.name].epochs_left
        else:
            paths = (RunPaths(folder / "runs" / identity) for identity in cohort.identities)
            left += sum(not path.has_ended for path in paths) * cohort.recipe.epochs
    return left / speed
