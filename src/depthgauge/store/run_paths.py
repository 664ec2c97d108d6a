"""What is where in the folder of a run; knows the names alone, and needs nothing to be loaded."""

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
    """The content of a `failed.json`: why the run raised an error, and the whole traceback."""

    schema_version: int
    identity: str
    reason: str
    details: str
    provenance: Provenance


class RunPaths:
    """The files of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def config_path(self) -> Path:
        """What defines the run."""
        return self.path / CONFIG

    @property
    def metrics_path(self) -> Path:
        """One line for each epoch."""
        return self.path / METRICS

    @property
    def result_path(self) -> Path:
        """What it came to: the done marker."""
        return self.path / RESULT

    @property
    def failed_path(self) -> Path:
        """Why it failed."""
        return self.path / FAILED

    @property
    def checkpoint_path(self) -> Path:
        """Where it goes on from; in the end, the trained network."""
        return self.path / CHECKPOINT

    @property
    def previous_path(self) -> Path:
        """The checkpoint before that."""
        return self.path / PREVIOUS

    @property
    def ended(self) -> bool:
        """Whether there is nothing left to train: the run is done, or has failed."""
        return self.result_path.exists() or self.failed_path.exists()

    @property
    def failure(self) -> FailureFile | None:
        """What was written down when the run failed, if it did."""
        if not self.failed_path.exists():
            return None
        failure: FailureFile = read_json(self.failed_path)
        return failure


def read_config(path: Path) -> RunConfig:
    """The `config.json` of a run."""
    try:
        return RunConfig.model_validate(read_json(path))
    except ValidationError as error:
        raise UserError(
            f"{path} is not the configuration of a run of this version; nothing was changed"
        ) from error
