"""Find the files in a study's folder that are no longer needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from depthgauge.errors import UserError
from depthgauge.store.plan_files import Plan
from depthgauge.store.quarantine import FOLDER as QUARANTINE
from depthgauge.store.run_paths import RunPaths
from depthgauge.store.study_folder import read_study


@dataclass(frozen=True)
class GarbageFile:
    """A file that may be deleted, and why."""

    path: Path
    size: int
    why: str


def garbage_in(folder: Path, *, quarantined: bool) -> list[GarbageFile]:
    """Return the files that may be deleted; with `quarantined`, also the files in quarantine.

    The call is refused while a process trains the study, since that process uses temporary files.
    """
    study, _ = read_study(folder)
    plan, claims = study.plan_files.read(), study.claims
    held = [cohort.name for cohort in plan.current if claims.holder(cohort.name) is not None]
    if held:
        raise UserError(
            f"a process is training in {folder}; run this command again when training has ended "
            f"(`depthgauge status {folder}` shows what is running)"
        )
    found = [*_temporaries(folder), *_of_claims(folder, plan), *_of_runs(folder, quarantined)]
    return [GarbageFile(path, path.stat().st_size, why) for path, why in found]


def _temporaries(folder: Path) -> Iterator[tuple[Path, str]]:
    for place in (folder, folder / "plan", folder / "claims"):
        for path in sorted(place.glob(".*.tmp")):
            yield path, "a file that was never completed"
    for path in sorted(folder.glob(".shared-*")):
        yield path, "a mark that a killed command left for a Ray cluster"


def _of_claims(folder: Path, plan: Plan) -> Iterator[tuple[Path, str]]:
    """Yield the claims on cohorts that are done; the other claims may be in use."""
    left = {
        cohort.name
        for cohort in plan.current
        if not all(RunPaths(folder / "runs" / identity).has_ended for identity in cohort.identities)
    }
    for path in sorted((folder / "claims").glob("[!.]*")):
        if path.name.partition(".")[0] not in left:
            yield path, "a claim on work that is done"


def _of_runs(folder: Path, quarantined: bool) -> Iterator[tuple[Path, str]]:
    for run in sorted((folder / "runs").glob("*")):
        paths = RunPaths(run)
        for path in sorted(run.glob(".*.tmp")):
            yield path, "a file that was never completed"
        if paths.result_path.exists() and paths.previous_path.exists():
            yield paths.previous_path, "an older checkpoint of a run that is done"
        if quarantined:
            for path in sorted((run / QUARANTINE).glob("*")):
                yield path, "put aside"
