"""The folder of a study: what it is about, and the folders of its runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from depthgauge.config import SCHEMA_VERSION, RunConfig
from depthgauge.errors import UserError
from depthgauge.store.files import read_json, write_json
from depthgauge.store.run_folder import RunFolder


class StudyFolder:
    """One network, task and recipe; its rules, k and seeds may grow from command to command.

    `study.json` says what the folder belongs to, so that another study is refused instead of
    mixed in. It also fixes the number of threads: with it, results are the same bit for bit.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.runs = path, path / "runs"
        self.study_path = path / "study.json"

    def open(self, kind: str, base: dict[str, Any], threads: int | None, otherwise: int) -> int:
        """Claim the folder for a study, or check that it is this study's; returns its threads.

        A new study gets the `threads` asked for, or `otherwise`.
        """
        if self.study_path.exists():
            return self._reopen(kind, base, threads)
        if self.path.is_file() or (self.path.is_dir() and any(self.path.iterdir())):
            raise UserError(
                f"{self.path} has something else in it; choose an empty or new folder with --out"
            )
        threads = threads or otherwise
        self.path.mkdir(parents=True, exist_ok=True)
        write_json(
            self.study_path,
            {"schema_version": SCHEMA_VERSION, "kind": kind, "base": base, "threads": threads},
        )
        return threads

    def _reopen(self, kind: str, base: dict[str, Any], threads: int | None) -> int:
        study = read_json(self.study_path)
        if not isinstance(study, dict) or study.get("schema_version") != SCHEMA_VERSION:
            raise UserError(f"{self.study_path} was written by another version of depthgauge")
        if study["kind"] != kind:
            raise UserError(
                f"{self.path} belongs to another study ({study['kind']}); choose another --out"
            )
        different = sorted(_differences(study["base"], base))
        if different:
            raise UserError(
                f"{self.path} belongs to another study, which differs in: "
                f"{'; '.join(different)}; choose another --out"
            )
        fixed = int(study["threads"])
        if threads is not None and threads != fixed:
            raise UserError(
                f"{self.path} was started with --threads {fixed}, which fixes its results bit for "
                f"bit; leave --threads out, or choose another --out"
            )
        return fixed

    def run(self, config: RunConfig) -> RunFolder:
        """The folder of a run."""
        return RunFolder(self.runs, config)

    def all_runs(self) -> list[RunFolder]:
        """Every run of the study that has been started."""
        found = sorted(self.runs.glob("*/config.json")) if self.runs.is_dir() else []
        return [RunFolder(self.runs, _read_config(path)) for path in found]


def _read_config(path: Path) -> RunConfig:
    try:
        return RunConfig.model_validate(read_json(path))
    except ValidationError as error:
        raise UserError(
            f"{path} is not the configuration of a run of this version; nothing was changed"
        ) from error


def _differences(old: dict[str, Any], new: dict[str, Any], prefix: str = "") -> list[str]:
    different = []
    for name in old.keys() | new.keys():
        before, after = old.get(name), new.get(name)
        if isinstance(before, dict) and isinstance(after, dict):
            different += _differences(before, after, f"{prefix}{name}.")
        elif before != after:
            different.append(f"{prefix}{name} ({before} there, {after} here)")
    return different
