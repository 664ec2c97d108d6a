"""The names and paths of the files in a run's folder; this module does not import torch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError
from typing_extensions import TypedDict

from depthgauge.config import RunConfig
from depthgauge.errors import UserError
from depthgauge.store.files import read_json

if TYPE_CHECKING:
    from depthgauge.store.provenance import Provenance

CONFIG = "config.json"
METRICS = "metrics.jsonl"
RESULT = "result.json"
FAILED = "failed.json"
CHECKPOINT = "checkpoint.safetensors"
PREVIOUS = "checkpoint.previous.safetensors"
NAMES = (CONFIG, METRICS, CHECKPOINT, PREVIOUS, FAILED, RESULT)


class FailureFile(TypedDict):
    """The content of `failed.json`; `reason` is the error that the run raised, on one line.

    `details` is the traceback.
    """

    schema_version: int
    identity: str
    reason: str
    details: str
    provenance: Provenance


class RunPaths:
    """The paths of the files of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def config_path(self) -> Path:
        """The path of the run's configuration."""
        return self.path / CONFIG

    @property
    def metrics_path(self) -> Path:
        """The path of the metrics, which have one line for each epoch."""
        return self.path / METRICS

    @property
    def result_path(self) -> Path:
        """The path of `result.json`, which exists once the run is done."""
        return self.path / RESULT

    @property
    def failed_path(self) -> Path:
        """The path of `failed.json`, which exists if the run raised an error."""
        return self.path / FAILED

    @property
    def checkpoint_path(self) -> Path:
        """The path of the newest checkpoint; once the run is done, it holds the trained network."""
        return self.path / CHECKPOINT

    @property
    def previous_path(self) -> Path:
        """The path of the second newest checkpoint."""
        return self.path / PREVIOUS

    @property
    def has_ended(self) -> bool:
        """Whether the run is done or has failed."""
        return self.result_path.exists() or self.failed_path.exists()

    @property
    def failure(self) -> FailureFile | None:
        """The content of `failed.json`; None if the run has not failed."""
        if not self.failed_path.exists():
            return None
        failure: FailureFile = read_json(self.failed_path)
        return failure


def read_config(path: Path) -> RunConfig:
    """Return the configuration in the `config.json` of a run."""
    try:
        return RunConfig.model_validate(read_json(path))
    except ValidationError as error:
        raise UserError(
            f"{path} is damaged, or was written by another version of depthgauge; nothing was "
            "changed; move the run's folder away, and run the command again"
        ) from error
