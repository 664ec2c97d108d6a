"""One run of a study, in any state from waiting to finished."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

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
    """A run and its result.

    Attributes:
        config: the configuration that defines the run.
        label: the label of its rule in tables.
        state: finished, diverged and failed runs have ended. A running run is being trained. A
            stopped run has begun, but no process trains it. A waiting run has not begun.
        folder: the folder with its files.
        accuracy: the accuracy after the last epoch; None if the run has not finished.
        diverged_epoch: the epoch in which the run diverged; None if it did not diverge.
        reason: the reason why the run failed; None if it did not fail.
        provenance: version, commit, machine and cost of its result; empty without a result.
        last: the metrics of the last epoch, as the result stores them; None without a result.
        right: which evaluation samples the network classifies correctly, in the packed form of the
            result; `right_answers` unpacks it. None without a result, or if an earlier version of
            depthgauge wrote the result.
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
        """Return the id of the run, which is also the name of its folder."""
        return self.config.identity

    @property
    def control(self) -> str | None:
        """Return the control under which the run was trained; None without a control."""
        return control_in(self.config.rule.label)

    @property
    def is_full(self) -> bool:
        """Return whether the network has blocks and the rule trains all of them."""
        return self.config.is_full

    @property
    def is_done(self) -> bool:
        """Return whether the run has a result: it finished or diverged."""
        return self.state in ("finished", "diverged")

    @property
    def has_ended(self) -> bool:
        """Return whether the run finished, diverged or failed."""
        return self.is_done or self.state == "failed"

    @cached_property
    def epochs(self) -> Sequence[EpochMetrics]:
        """Return the metrics of every epoch, read from the run's folder on first use.

        If the file of metrics is lost, return only the metrics of the last epoch, from the result.
        """
        lines = MetricsFile(RunPaths(self.folder).metrics_path).lines()
        return lines or ([self.last] if self.last is not None else [])

    @cached_property
    def right_answers(self) -> NDArray[Any] | None:
        """Return the score of each evaluation sample, a flag or a number; None if unknown."""
        return None if self.right is None else unpack_answers(self.right)

    @property
    def has_all_epochs(self) -> bool:
        """Return whether the metrics of every epoch are there, from epoch 0 to the last one."""
        return [line["epoch"] for line in self.epochs] == list(range(len(self.epochs)))

    def first_fired(self, thresholds: Thresholds) -> dict[str, int | None]:
        """Return the epoch at which each diagnostic first fired; None if it never fired.

        If the metrics of an epoch are missing, return an empty dictionary.
        """
        if not self.has_all_epochs:
            return {}
        return first_fired(readings_from_metrics(self.epochs), thresholds)
