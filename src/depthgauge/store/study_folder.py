"""The folder of a study: what it is about, its plan, and the folders of its runs."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError

from depthgauge.config import SCHEMA_VERSION, Engine, RunConfig, SharedConfig
from depthgauge.errors import UserError
from depthgauge.store.claims import Claims
from depthgauge.store.files import as_json, create_exclusively, make_folder, read_json
from depthgauge.store.plan_files import CohortPlan, PlanFiles
from depthgauge.store.relative_paths import SOURCES, TASKS
from depthgauge.store.run_folder import RunFolder
from depthgauge.store.run_paths import FAILED, RESULT, RunPaths, read_config


class StudyFile(BaseModel):
    """`study.json`; `device` is cpu or cuda, and not known of studies older than that field."""

    schema_version: Literal[1] = SCHEMA_VERSION
    base: SharedConfig
    threads: int = Field(ge=1)
    device: str | None = None
    engine: Engine = "cohort"


class StudyFolder:
    """One network, task and recipe; its rules, k and seeds may grow from command to command.

    `study.json` says what the folder belongs to, so that another study is refused instead of
    mixed in. It also fixes the kind of device and the number of threads: with them and the plan,
    results are the same bit for bit.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.runs = path, path / "runs"
        self.study_path = path / "study.json"
        self.plan_files = PlanFiles(path / "plan")
        self.claims = Claims(path / "claims")

    def open(
        self,
        base: SharedConfig,
        device: str,
        threads: int | None,
        otherwise: int,
        engine: Engine | None = None,
    ) -> StudyFile:
        """Make the folder this study's, or check that it is.

        A new study gets the `threads` and the `engine` asked for, or `otherwise` and the cohort.
        """
        while (begun := self.check(base, device, threads, engine)) is None:
            make_folder(self.path)
            strange = not all(_is_ours(path) for path in self.path.iterdir())
            if strange and not self.study_path.exists():
                raise UserError(
                    f"{self.path} has something else in it; choose an empty or new folder with "
                    "--out"
                )
            study = StudyFile(
                base=base, threads=threads or otherwise, device=device, engine=engine or "cohort"
            )
            if create_exclusively(self.study_path, as_json(study.model_dump(mode="json"))):
                return study
        return begun

    def check(
        self,
        base: SharedConfig,
        device: str | None = None,
        threads: int | None = None,
        engine: Engine | None = None,
    ) -> StudyFile | None:
        """What the folder belongs to, None if it is new; what does not fit it is refused."""
        study = self._check_base(base)
        if study is None:
            return None
        if threads not in (None, study.threads):
            raise UserError(
                f"{self.path} was started with --threads {study.threads}, which fixes its "
                "results bit for bit; leave --threads out, or choose another --out"
            )
        if engine not in (None, study.engine):
            raise UserError(
                f"{self.path} was started with --engine {study.engine}, which fixes its results "
                "bit for bit; leave --engine out, or choose another --out"
            )
        if device is not None:
            self.check_device(study, device)
        return study

    def check_device(self, study: StudyFile, device: str) -> None:
        """Refuse another kind of device than the study was started with."""
        if study.device not in (None, device):
            raise UserError(
                f"{self.path} was started with --device {study.device}, which fixes its results "
                "bit for bit; choose that device, or another --out"
            )

    def read(self) -> StudyFile | None:
        """What the folder belongs to, None if it is new."""
        if not self.study_path.exists():
            return None
        content = read_json(self.study_path)
        version = content.get("schema_version") if isinstance(content, dict) else None
        try:
            return StudyFile.model_validate(content)
        except ValidationError as error:
            what = (
                f"has the schema version {version}; this version knows {SCHEMA_VERSION}"
                if version not in (None, SCHEMA_VERSION)
                else "is damaged"
            )
            raise UserError(
                f"{self.study_path} {what}; nothing was changed: choose another folder"
            ) from error

    def _check_base(self, base: SharedConfig) -> StudyFile | None:
        study = self.read()
        different = differences(study.base.model_dump(), base.model_dump()) if study else {}
        if different:
            words = [f"{name} ({was} there, {now} here)" for name, (was, now) in different.items()]
            raise UserError(
                f"{self.path} belongs to another study, which differs in: "
                f"{'; '.join(sorted(words))}; choose another --out"
            )
        return study

    def run(self, config: RunConfig) -> RunFolder:
        """The folder of a run."""
        return RunFolder(self.runs, config)

    def paths(self, identity: str) -> RunPaths:
        """Where a run's files are; takes less than its folder does."""
        return RunPaths(self.runs / identity)

    def is_done(self, identity: str) -> bool:
        """Whether a run has its result; asked of many runs, so without paths being made."""
        return os.path.exists(f"{self.runs}/{identity}/{RESULT}")

    def has_failed(self, identity: str) -> bool:
        """Whether a run raised an error."""
        return os.path.exists(f"{self.runs}/{identity}/{FAILED}")

    def open_runs(self, cohort: CohortPlan) -> list[int]:
        """Which runs of a cohort are neither done nor failed."""
        return [
            position
            for position, identity in enumerate(cohort.identities)
            if not self.is_done(identity) and not self.has_failed(identity)
        ]

    def has_open_runs(self, cohort: CohortPlan, done: Collection[str]) -> bool:
        """Whether a cohort has open runs; some that are `done` were looked up already."""
        return any(
            not (identity in done or self.is_done(identity) or self.has_failed(identity))
            for identity in cohort.identities
        )

    def open_cohorts(self, names: Iterable[str]) -> list[CohortPlan]:
        """The cohorts of these names, or what stands in their place, that have not ended."""
        cohorts = self.plan_files.read().in_effect(names)
        return [cohort for cohort in cohorts if self.open_runs(cohort)]

    def all_runs(self) -> Iterator[RunFolder]:
        """Every run of the study that has been started."""
        for path in sorted(self.runs.glob("*/config.json")) if self.runs.is_dir() else ():
            yield RunFolder(self.runs, read_config(path))


def read_study(folder: Path) -> tuple[StudyFolder, StudyFile]:
    """Return the folder of a study and what it belongs to; another folder is refused."""
    study = StudyFolder(folder)
    file = study.read()
    if file is None:
        raise UserError(f"{folder} is not the folder of a study: it has no study.json")
    return study, file


def _is_ours(path: Path) -> bool:
    """Whether it is a study inside this one, was handed over, or what a kill left behind."""
    return (path / "study.json").is_file() or path.name in (SOURCES, TASKS) or path.name[0] == "."


def differences(
    old: Mapping[str, Any], new: Mapping[str, Any], prefix: str = ""
) -> dict[str, tuple[Any, Any]]:
    """Old and new values by dotted name where they differ; None where there is no such name."""
    different: dict[str, tuple[Any, Any]] = {}
    for name in sorted(old.keys() | new.keys()):
        before, after = old.get(name), new.get(name)
        if isinstance(before, dict) and isinstance(after, dict):
            different |= differences(before, after, f"{prefix}{name}.")
        elif before != after:
            different[f"{prefix}{name}"] = (before, after)
    return different
