"""One run of a study, whatever has become of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from depthgauge.config import RunConfig
from depthgauge.controls import control_in
from depthgauge.gauges.epoch_metrics import EpochMetrics
from depthgauge.store.metrics_file import MetricsFile
from depthgauge.store.provenance import Provenance
from depthgauge.store.result_file import RightAnswers, unpack_answers
from depthgauge.store.run_paths import RunPaths
from depthgauge.verdict.first_fired import first_fired, readings_from_metrics
from depthgauge.verdict.thresholds import Thresholds

State = Literal["finished", "diverged", "failed", "running", "stopped", "waiting"]

STATES: tuple[State, ...] = ("finished", "diverged", "failed", "running", "stopped", "waiting")


@dataclass(frozen=True)
class RunResult:
    """A run, and what it came to.

    Attributes:
        config: what defines the run.
        label: what tables call its rule.
        state: finished, diverged and failed runs have ended; a running one is being trained; a
            stopped one was begun and nobody is training it; a waiting one was not begun.
        folder: where its files are.
        accuracy: of the last epoch, where the run finished.
        diverged_epoch: the epoch in which it diverged, where it did.
        reason: why it failed, where it did.
        provenance: version, commit, machine and cost behind its result; empty without a result.
        last: the last epoch as its result has it; None without a result.
        right: which evaluation samples it names rightly, as its result has them; None without a
            result, or in one of an earlier version. `right_answers` has a flag for each.
    """

    config: RunConfig
    label: str
    state: State
    folder: Path
    accuracy: float | None = None
    diverged_epoch: int | None = None
    reason: str | None = None
    provenance: Provenance = field(default_factory=dict)
    last: EpochMetrics | None = None
    right: RightAnswers | None = None

    @property
    def identity(self) -> str:
        """The name of the run's folder."""
        return self.config.identity

    @property
    def control(self) -> str | None:
        """The control it was trained under, if any."""
        return control_in(self.config.rule.label)

    @property
    def is_full(self) -> bool:
        """Whether all blocks follow the rule, and there are some."""
        return self.config.is_full

    @property
    def is_done(self) -> bool:
        """Whether the run has its result."""
        return self.state in ("finished", "diverged")

    @property
    def has_ended(self) -> bool:
        """Whether nothing of the run is left to train."""
        return self.is_done or self.state == "failed"

    @cached_property
    def epochs(self) -> Sequence[EpochMetrics]:
        """What was read after each epoch: the run's metrics, read from its folder when asked for.

        Where the metrics are lost, the last epoch as the result has it.
        """
        lines = MetricsFile(RunPaths(self.folder).metrics_path).lines()
        return lines or ([self.last] if self.last is not None else [])

    @cached_property
    def right_answers(self) -> NDArray[np.bool_] | None:
        """Whether the run names each evaluation sample rightly, in order; None if not known."""
        return None if self.right is None else unpack_answers(self.right)

    @property
    def has_all_epochs(self) -> bool:
        """Whether no epoch between the first and the last one is missing."""
        return [line["epoch"] for line in self.epochs] == list(range(len(self.epochs)))

    def first_fired(self, thresholds: Thresholds) -> dict[str, int | None]:
        """Return the epoch at which each diagnostic first fired; nothing where epochs are lost."""
        if not self.has_all_epochs:
            return {}
        return first_fired(readings_from_metrics(self.epochs), thresholds)
