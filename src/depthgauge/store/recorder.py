"""Writes what a cohort does into its runs' folders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from depthgauge.store.run_folder import RunFolder
from depthgauge.training.engine import RunState


class StoreRecorder:
    """Metrics and checkpoints of a cohort, one folder for each run."""

    def __init__(self, folders: Sequence[RunFolder]) -> None:
        self.folders = list(folders)

    def record_epoch(self, lines: Sequence[dict[str, Any]]) -> None:
        """Append one line of metrics to each run."""
        for folder, line in zip(self.folders, lines, strict=True):
            folder.metrics.append(line)

    def save(self, states: Sequence[RunState]) -> None:
        """Save each run's checkpoint."""
        for folder, state in zip(self.folders, states, strict=True):
            folder.save(state)
