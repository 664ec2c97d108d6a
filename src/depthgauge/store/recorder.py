"""Writes what a cohort does into its runs' folders."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from depthgauge.errors import storing
from depthgauge.gauges.epoch_metrics import EpochMetrics
from depthgauge.store.provenance import Provenance
from depthgauge.store.result_file import RightAnswers
from depthgauge.store.run_folder import RunFolder
from depthgauge.training.loop import RunState, StoppedEarlyError


class StoreRecorder:
    """Metrics and checkpoints of a cohort, one folder for each run."""

    def __init__(
        self, folders: Sequence[RunFolder], may_write: Callable[[], bool] = lambda: True
    ) -> None:
        self.folders, self._may_write = list(folders), may_write

    def record_epoch(self, lines: Sequence[EpochMetrics]) -> None:
        """Append one line of metrics to each run."""
        with storing():
            for folder, line in zip(self.folders, lines, strict=True):
                self._check()
                folder.metrics.append(line)

    def save(self, states: Sequence[RunState]) -> None:
        """Save each run's checkpoint."""
        with storing():
            for folder, state in zip(self.folders, states, strict=True):
                self._check()
                folder.save(state)

    def finish(self, provenance: Provenance, right: Sequence[RightAnswers]) -> None:
        """Write each run's result, with the samples that it names rightly."""
        with storing():
            for folder, answers in zip(self.folders, right, strict=True):
                self._check()
                folder.finish(provenance, answers)

    def _check(self) -> None:
        """Whoever was taken for dead, and wakes up, writes nothing more."""
        if not self._may_write():
            raise StoppedEarlyError
