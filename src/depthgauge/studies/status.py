"""What of a study is done, running, failed and left; read off its folder, nothing else loaded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from depthgauge.config import SCHEMA_VERSION
from depthgauge.errors import UserError
from depthgauge.store.claims import ClaimFile, Claims
from depthgauge.store.files import read_json
from depthgauge.store.plan_files import CohortPlan, PlanFiles
from depthgauge.store.run_paths import RunPaths


@dataclass(frozen=True)
class Running:
    """A cohort that somebody is training; times in seconds, None where not known yet."""

    cohort: str
    label: str
    runs: int
    where: str
    epoch: int
    epochs: int
    seconds_left: float | None
    silent_for: float


@dataclass(frozen=True)
class Failed:
    """A run that raised an error."""

    run: str
    label: str
    k: int
    seed: int
    reason: str


def check_study(folder: Path) -> None:
    """Refuse a folder that is not a study's."""
    if not (folder / "study.json").is_file():
        raise UserError(f"{folder} is not the folder of a study: it has no study.json")
    read_json(folder / "study.json")


def status_of(folder: Path) -> dict[str, Any]:
    """The study's status as one document."""
    check_study(folder)
    plan, claims = PlanFiles(folder / "plan").read(), Claims(folder / "claims")
    runs = folder / "runs"
    counts = {"done": 0, "running": 0, "failed": 0, "left": 0}
    running: list[Running] = []
    failed: list[Failed] = []
    planned: set[str] = set()
    for cohort in plan.current:
        open_runs = 0
        planned.update(cohort.identities)
        for identity, (rule, k, seed) in zip(cohort.identities, cohort.runs, strict=True):
            run = RunPaths(runs / identity)
            if run.result_path.exists():
                counts["done"] += 1
            elif (failure := run.failure) is not None:
                counts["failed"] += 1
                label, reason = cohort.rules[rule].config.label, str(failure["reason"])
                failed.append(Failed(identity, label, k, seed, reason))
            else:
                open_runs += 1
        holder = claims.holder(cohort.name) if open_runs else None
        counts["running" if holder else "left"] += open_runs
        running += [_running(cohort, holder, claims)] if holder else []
    for run in _outside_the_plan(runs, planned):
        counts["done" if run.result_path.exists() else "left"] += 1
    return {
        "schema_version": SCHEMA_VERSION,
        "study": str(folder),
        "runs": counts,
        "running": [asdict(one) for one in running],
        "failed": [asdict(one) for one in failed],
        "seconds_left": _seconds_left(plan.current, running, folder),
    }


def _outside_the_plan(runs: Path, planned: set[str]) -> Iterator[RunPaths]:
    """Runs from before there were plans, or put there by hand."""
    for path in runs.iterdir() if runs.is_dir() else ():
        if path.name not in planned and path.is_dir():
            yield RunPaths(path)


def _running(cohort: CohortPlan, holder: ClaimFile, claims: Claims) -> Running:
    progress = holder.progress
    timed = "seconds" in progress and "steps" in progress
    done = progress["steps"] - progress["first"] if timed else 0
    left = progress["total"] - progress["steps"] if timed else 0
    return Running(
        cohort.name,
        cohort.label,
        int(progress.get("runs", len(cohort.runs))),
        str(holder.owner),
        int(progress.get("epoch", 0)),
        cohort.recipe.epochs,
        progress["seconds"] * left / done if done > 0 else None,
        claims.silent_for(cohort.name),
    )


def _seconds_left(cohorts: list[CohortPlan], running: list[Running], folder: Path) -> float | None:
    """Until all has ended, at the speed of what is running: run-epochs left over their rate."""
    known = [one for one in running if one.seconds_left]
    rate = sum(
        one.runs * (one.epochs - one.epoch) / one.seconds_left for one in known if one.seconds_left
    )
    if not rate:
        return None
    by_cohort = {one.cohort: one for one in running}
    left = 0
    for cohort in cohorts:
        if cohort.name in by_cohort:
            one = by_cohort[cohort.name]
            left += one.runs * (one.epochs - one.epoch)
        else:
            paths = (RunPaths(folder / "runs" / identity) for identity in cohort.identities)
            left += sum(not path.ended for path in paths) * cohort.recipe.epochs
    return left / rate
