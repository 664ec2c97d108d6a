"""What is where in the folder of a run; knows the names alone, and needs nothing to be loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from depthgauge.store.files import read_json


class RunPaths:
    """The files of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config_path = path / "config.json"
        self.metrics_path = path / "metrics.jsonl"
        self.result_path = path / "result.json"
        self.failed_path = path / "failed.json"
        self.checkpoint_path = path / "checkpoint.safetensors"
        self.previous_path = path / "checkpoint.previous.safetensors"

    @property
    def ended(self) -> bool:
        """Whether there is nothing left to train: the run is done, or has failed."""
        return self.result_path.exists() or self.failed_path.exists()

    @property
    def failure(self) -> dict[str, Any] | None:
        """What was written down when the run failed, if it did."""
        return dict(read_json(self.failed_path)) if self.failed_path.exists() else None
