"""The folder of a study: what it is about, and the folders of its runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock, Timeout
from pydantic import BaseModel, Field, ValidationError

from depthgauge.config import SCHEMA_VERSION, RunConfig
from depthgauge.errors import UserError
from depthgauge.store.files import make_folder, read_json, write_json
from depthgauge.store.run_folder import RunFolder

LOCK = ".lock"


class StudyFile(BaseModel):
    """`study.json`."""

    schema_version: Literal[1] = SCHEMA_VERSION
    base: dict[str, Any]
    threads: int = Field(ge=1)


class StudyFolder:
    """One network, task and recipe; its rules, k and seeds may grow from command to command.

    `study.json` says what the folder belongs to, so that another study is refused instead of
    mixed in. It also fixes the number of threads: with it, results are the same bit for bit.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.runs = path, path / "runs"
        self.study_path = path / "study.json"

    def open(self, base: dict[str, Any], threads: int | None, otherwise: int) -> int:
        """Claim the folder for a study, or check that it is this study's; returns its threads.

        A new study gets the `threads` asked for, or `otherwise`.
        """
        study = self.check(base)
        if study is not None:
            if threads not in (None, study.threads):
                raise UserError(
                    f"{self.path} was started with --threads {study.threads}, which fixes its "
                    "results bit for bit; leave --threads out, or choose another --out"
                )
            return study.threads
        make_folder(self.path)
        if not all(_is_ours(path) for path in self.path.iterdir()):
            raise UserError(
                f"{self.path} has something else in it; choose an empty or new folder with --out"
            )
        threads = threads or otherwise
        study = StudyFile(base=base, threads=threads)
        write_json(self.study_path, study.model_dump(mode="json"))
        return threads

    def check(self, base: dict[str, Any]) -> StudyFile | None:
        """What the folder belongs to, None if it is new; another study is refused."""
        if not self.study_path.exists():
            return None
        try:
            study = StudyFile.model_validate(read_json(self.study_path))
        except ValidationError as error:
            raise UserError(
                f"{self.study_path} is damaged or of another version; choose another --out"
            ) from error
        different = sorted(_differences(study.base, base))
        if different:
            raise UserError(
                f"{self.path} belongs to another study, which differs in: "
                f"{'; '.join(different)}; choose another --out"
            )
        return study

    @contextmanager
    def training(self) -> Iterator[None]:
        """Held while runs are trained: a second command in the same folder is refused."""
        lock = FileLock(self.path / LOCK, timeout=0)
        try:
            lock.acquire()
        except Timeout as error:
            raise UserError(
                f"another command is training in {self.path}; wait for it, or choose another --out"
            ) from error
        try:
            yield
        finally:
            lock.release()

    def run(self, config: RunConfig) -> RunFolder:
        """The folder of a run."""
        return RunFolder(self.runs, config)

    def all_runs(self) -> list[RunFolder]:
        """Every run of the study that has been started."""
        found = sorted(self.runs.glob("*/config.json")) if self.runs.is_dir() else []
        return [RunFolder(self.runs, read_config(path)) for path in found]


def read_config(path: Path) -> RunConfig:
    """The `config.json` of a run."""
    try:
        return RunConfig.model_validate(read_json(path))
    except ValidationError as error:
        raise UserError(
            f"{path} is not the configuration of a run of this version; nothing was changed"
        ) from error


def _is_ours(path: Path) -> bool:
    """Whether it is the lock, a study inside this one, or what a kill left of `study.json`."""
    inner = (path / "study.json").is_file()
    return inner or path.name == LOCK or path.name.startswith(".study.json.")


def _differences(old: dict[str, Any], new: dict[str, Any], prefix: str = "") -> list[str]:
    different = []
    for name in old.keys() | new.keys():
        before, after = old.get(name), new.get(name)
        if isinstance(before, dict) and isinstance(after, dict):
            different += _differences(before, after, f"{prefix}{name}.")
        elif before != after:
            different.append(f"{prefix}{name} ({before} there, {after} here)")
    return different
