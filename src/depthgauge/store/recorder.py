"""Write the metrics, checkpoints and results of a cohort into the folders of its runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from depthgauge.errors import storing
from depthgauge.gauges.epoch_metrics import EpochMetrics
from depthgauge.store.provenance import Provenance
from depthgauge.store.result_file import RightAnswers
from depthgauge.store.run_folder import RunFolder
from depthgauge.training.loop import StoppedEarlyError
from depthgauge.training.trainee import RunState


class StoreRecorder:
    """Writes the files of each run of a cohort, as long as `may_write` returns True."""

    def __init__(
        self, folders: Sequence[RunFolder], may_write: Callable[[], bool] = lambda: True
    ) -> None:
        self.folders, self._may_write = list(folders), may_write

    def record_epoch(self, lines: Sequence[EpochMetrics]) -> None:
        """Append one line to the metrics of each run."""
        with storing():
            for folder, line in zip(self.folders, lines, strict=True):
                self._check()
                folder.metrics.append(line)

    def save(self, states: Sequence[RunState]) -> None:
        """Write the state of each run to a checkpoint."""
        with storing():
            for folder, state in zip(self.folders, states, strict=True):
                self._check()
                folder.save(state)

    def finish(self, provenance: Provenance, right: Sequence[RightAnswers]) -> None:
        """Write the result of each run, with the score of its network on each sample."""
        with storing():
            for folder, answers in zip(self.folders, right, strict=True):
                self._check()
                folder.finish(provenance, answers)

    def _check(self) -> None:
        """Stop training if this process may no longer write.

        If this process was suspended for long, another process may have taken over the cohort.
        """
        if not self._may_write():
            raise StoppedEarlyError
