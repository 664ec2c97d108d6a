"""The folder of a study: its `study.json`, its plan, and the folders of its runs."""

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


class StudyDocument(BaseModel):
    """The content of `study.json`; `device` is cpu or cuda, and None in studies of old versions."""

    schema_version: Literal[1] = SCHEMA_VERSION
    base: SharedConfig
    threads: int = Field(ge=1)
    device: str | None = None
    engine: Engine = "cohort"


class StudyFolder:
    """The folder of a study.

    A study has one network, one task and one recipe. Commands may add rules, seeds and further
    values of k, the number of trained blocks. `study.json` identifies the study, so that another
    study in the same folder is refused. `study.json` also fixes the kind of device, the number of
    threads and the engine. Together with the plan it determines the results bit for bit.
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
        default_threads: int,
        engine: Engine | None = None,
    ) -> StudyDocument:
        """Return the content of `study.json`; write the file if the folder is new.

        Without `threads` a new study gets `default_threads`. Without `engine` a new study gets the
        cohort engine.
        """
        while (existing := self.check(base, device, threads, engine)) is None:
            make_folder(self.path)
            has_other_files = not all(_may_precede_a_study(path) for path in self.path.iterdir())
            if has_other_files and not self.study_path.exists():
                raise UserError(
                    f"the folder {self.path} has files but no study.json; choose an empty or new "
                    "folder with --out"
                )
            document = StudyDocument(
                base=base,
                threads=threads or default_threads,
                device=device,
                engine=engine or "cohort",
            )
            if create_exclusively(self.study_path, as_json(document.model_dump(mode="json"))):
                return document
        return existing

    def check(
        self,
        base: SharedConfig,
        device: str | None = None,
        threads: int | None = None,
        engine: Engine | None = None,
    ) -> StudyDocument | None:
        """Return the content of `study.json`; None if the folder has no such file.

        Refuse the folder of another study, and options that differ from `study.json`.
        """
        document = self.read()
        if document is None:
            return None
        self._check_base(document, base)
        self._check_option("threads", document.threads, threads)
        self._check_option("engine", document.engine, engine)
        self.check_device(document, device)
        return document

    def check_device(self, document: StudyDocument, device: str | None) -> None:
        """Refuse the device if the study was started with another kind of device."""
        self._check_option("device", document.device, device)

    def _check_option(
        self, option: str, started_with: str | int | None, given: str | int | None
    ) -> None:
        if given != started_with and None not in (given, started_with):
            raise UserError(
                f"the study in {self.path} was started with --{option} {started_with}, and its "
                f"results stay the same bit for bit only with this value; give --{option} "
                f"{started_with}, or choose another --out"
            )

    def read(self) -> StudyDocument | None:
        """Return the content of `study.json`; None if there is none."""
        if not self.study_path.exists():
            return None
        content = read_json(self.study_path)
        version = content.get("schema_version") if isinstance(content, dict) else None
        try:
            return StudyDocument.model_validate(content)
        except ValidationError as error:
            what = (
                f"has the schema version {version}; this version knows {SCHEMA_VERSION}"
                if version not in (None, SCHEMA_VERSION)
                else "is damaged"
            )
            raise UserError(
                f"{self.study_path} {what}; nothing was changed; choose another folder"
            ) from error

    def _check_base(self, document: StudyDocument, base: SharedConfig) -> None:
        different = differences(document.base.model_dump(), base.model_dump())
        if different:
            words = [f"{name} ({was} there, {now} here)" for name, (was, now) in different.items()]
            raise UserError(
                f"{self.path} belongs to another study, which differs in: "
                f"{'; '.join(sorted(words))}; choose another --out"
            )

    def run(self, config: RunConfig) -> RunFolder:
        """Return the folder of a run."""
        return RunFolder(self.runs, config)

    def paths(self, identity: str) -> RunPaths:
        """Return the paths of a run's files; this is faster than `run`, which needs a config."""
        return RunPaths(self.runs / identity)

    def is_done(self, identity: str) -> bool:
        """Return whether a run is done; this is fast, because it is called often."""
        return os.path.exists(f"{self.runs}/{identity}/{RESULT}")

    def has_failed(self, identity: str) -> bool:
        """Return whether a run raised an error."""
        return os.path.exists(f"{self.runs}/{identity}/{FAILED}")

    def open_runs(self, cohort: CohortPlan) -> list[int]:
        """Return the positions, in a cohort, of the runs that are neither done nor failed."""
        return [
            position
            for position, identity in enumerate(cohort.identities)
            if not self.is_done(identity) and not self.has_failed(identity)
        ]

    def has_open_runs(self, cohort: CohortPlan, done: Collection[str]) -> bool:
        """Return whether a cohort has runs that are neither done nor failed.

        Runs whose identity is in `done` are known to be done; their files are not looked at.
        """
        return any(
            not (identity in done or self.is_done(identity) or self.has_failed(identity))
            for identity in cohort.identities
        )

    def open_cohorts(self, names: Iterable[str]) -> list[CohortPlan]:
        """Return the cohorts of these names that have unfinished runs.

        A cohort that was split is replaced by its parts.
        """
        cohorts = self.plan_files.read().resolve(names)
        return [cohort for cohort in cohorts if self.open_runs(cohort)]

    def all_runs(self) -> Iterator[RunFolder]:
        """Yield the folder of every run that was started in this study."""
        for path in sorted(self.runs.glob("*/config.json")) if self.runs.is_dir() else ():
            yield RunFolder(self.runs, read_config(path))


def read_study(folder: Path) -> tuple[StudyFolder, StudyDocument]:
    """Return the folder of a study and its `study.json`; refuse a folder without one."""
    study = StudyFolder(folder)
    file = study.read()
    if file is None:
        raise UserError(
            f"{folder} is not the folder of a study: it has no study.json; give the folder "
            "of a study"
        )
    return study, file


def _may_precede_a_study(path: Path) -> bool:
    """Return whether a file or folder may already be where a new study begins.

    Folders of other studies, saved rules, saved tasks and hidden files are allowed. A killed
    process may have left hidden files.
    """
    return (path / "study.json").is_file() or path.name in (SOURCES, TASKS) or path.name[0] == "."


def differences(
    old: Mapping[str, Any], new: Mapping[str, Any], prefix: str = ""
) -> dict[str, tuple[Any, Any]]:
    """Return (old value, new value) for every field that differs, by names such as `net.width`.

    A missing value is None.
    """
    different: dict[str, tuple[Any, Any]] = {}
    for name in sorted(old.keys() | new.keys()):
        before, after = old.get(name), new.get(name)
        if isinstance(before, dict) and isinstance(after, dict):
            different |= differences(before, after, f"{prefix}{name}.")
        elif before != after:
            different[f"{prefix}{name}"] = (before, after)
    return different
