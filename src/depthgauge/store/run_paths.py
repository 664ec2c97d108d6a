"""The names of the files in a run's folder, without the imports that reading them needs."""

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
    """The content of a `failed.json`: the error that the run raised, and the whole traceback."""

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
        """The path of the result, which exists once the run is done."""
        return self.path / RESULT

    @property
    def failed_path(self) -> Path:
        """The path of the error that the run raised."""
        return self.path / FAILED

    @property
    def checkpoint_path(self) -> Path:
        """The path of the newest checkpoint; in the end, the trained network."""
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
            f"{path} is not the configuration of a run of this version; nothing was changed"
        ) from error
