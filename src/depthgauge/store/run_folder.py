"""The folder of one run: its configuration, metrics, checkpoints and result."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from depthgauge.config import SCHEMA_VERSION, RunConfig
from depthgauge.errors import UserError
from depthgauge.store.checkpoint import OpenCheckpoint, position_of, write_checkpoint
from depthgauge.store.files import (
    as_json,
    create_exclusively,
    read_json,
    read_json_or_none,
    sync,
    write_atomically,
    write_json,
)
from depthgauge.store.metrics_file import MetricsFile
from depthgauge.store.provenance import Provenance
from depthgauge.store.quarantine import DamagedError, put_aside
from depthgauge.store.result_file import ResultFile, RightAnswers, find_fault, result_of
from depthgauge.store.run_paths import FailureFile, RunPaths
from depthgauge.training.trainee import Position, RunState


class RunFolder(RunPaths):
    """The files of one run: `config.json`, `metrics.jsonl`, checkpoints, and finally `result.json`.

    The second newest checkpoint is kept until the run is done. If a cohort is killed while it
    saves, only some of its runs have saved the newest position in training. The cohort then
    continues from the newest position that *all* its runs have saved. A run that raised an error
    has `failed.json` instead of a result.
    """

    def __init__(self, runs: Path, config: RunConfig) -> None:
        super().__init__(runs / config.identity)
        self.config, self.metrics = config, MetricsFile(self.metrics_path)

    def create(self) -> None:
        """Create the folder and write `config.json`."""
        self.path.mkdir(parents=True, exist_ok=True)
        wanted = self.config.model_dump(mode="json")
        if self.config_path.exists():
            if read_json_or_none(self.config_path) == wanted:
                return
            put_aside(self.config_path, "is not the configuration of the run in this folder")
        write_json(self.config_path, wanted)

    @property
    def result(self) -> ResultFile | None:
        """The content of `result.json`; None while the run is not done."""
        if not self.result_path.exists():
            return None
        result: ResultFile = read_json(self.result_path)
        if find_fault(result, self.config.identity) is not None:
            raise UserError(
                f"{self.result_path} is incomplete, or is the result of another run; nothing was "
                "changed; remove the file, and run the command again to train the run again"
            )
        return result

    def rewind(self, position: Position | None) -> None:
        """Go back to a saved position: drop later metrics, and make its checkpoint the newest.

        If `position` is None, drop all metrics.
        """
        self.metrics.rewind(None if position is None else position[0])
        if position is not None and _readable_position(self.checkpoint_path) != position:
            os.replace(self.previous_path, self.checkpoint_path)

    def save(self, state: RunState) -> None:
        """Write a checkpoint, and keep the previous checkpoint beside it."""
        sync(self.metrics.path)

        def write(path: Path) -> None:
            write_checkpoint(path, state)
            newest = _readable_position(self.checkpoint_path)
            if newest is not None and newest < state.position:
                os.replace(self.checkpoint_path, self.previous_path)

        write_atomically(self.checkpoint_path, write)

    def saved(self, *, mend: bool = False) -> dict[Position, OpenCheckpoint]:
        """Return the readable checkpoints by position.

        With `mend`, checkpoints whose header cannot be read are put into quarantine.
        """
        checkpoints = {}
        for path in (self.previous_path, self.checkpoint_path):
            try:
                checkpoint = OpenCheckpoint(path) if path.exists() else None
            except DamagedError as error:
                checkpoint = None
                if mend:
                    put_aside(path, f"cannot be used: {error}")
            if checkpoint is not None:
                checkpoints[checkpoint.position] = checkpoint
        return checkpoints

    def load(self, position: Position) -> RunState | None:
        """Return the state saved at a position; put a damaged checkpoint aside and return None."""
        return _read_or_put_aside(self.saved()[position])

    def finish(self, provenance: Provenance, right: RightAnswers | None = None) -> None:
        """Mark the run as done: write `result.json`, unless `result.json` exists already."""
        result = result_of(self.config, self.metrics.lines(), provenance, right)
        create_exclusively(self.result_path, as_json(result))
        self.previous_path.unlink(missing_ok=True)

    def fail(self, reason: str, details: str, provenance: Provenance) -> None:
        """Mark the run as failed: write `failed.json`. Only the command `retry` trains it again."""
        failure: FailureFile = {
            "schema_version": SCHEMA_VERSION,
            "identity": self.config.identity,
            "reason": reason,
            "details": details,
            "provenance": provenance,
        }
        write_json(self.failed_path, failure)


def newest_common_position(folders: Sequence[RunFolder]) -> Position | None:
    """Return the newest position in training that all runs have saved; None if there is none.

    A position of a run counts only if the run has the metrics of every epoch up to the position.
    """
    return max(set.intersection(*(set(_usable(folder)) for folder in folders)), default=None)


def _usable(folder: RunFolder, *, mend: bool = False) -> dict[Position, OpenCheckpoint]:
    """Return a run's checkpoints by position, without those that follow a gap in the metrics."""
    saved, epochs = folder.saved(mend=mend), folder.metrics.epochs_without_gap()
    return {position: checkpoint for position, checkpoint in saved.items() if position[0] < epochs}


def load_newest(folders: Sequence[RunFolder]) -> list[RunState] | None:
    """Return every run's state at the newest position whose checkpoint is undamaged in all runs.

    Return None if there is no such position. Damaged checkpoints are put into quarantine.
    """
    usable = [_usable(folder, mend=True) for folder in folders]
    for position in sorted(set.intersection(*map(set, usable)), reverse=True):
        states = [_read_or_put_aside(saved.pop(position)) for saved in usable]
        if all(state is not None for state in states):
            return [state for state in states if state is not None]
    return None


def _read_or_put_aside(checkpoint: OpenCheckpoint) -> RunState | None:
    try:
        return checkpoint.read()
    except DamagedError as error:
        put_aside(checkpoint.path, f"cannot be used: {error}")
        return None


def _readable_position(path: Path) -> Position | None:
    try:
        return position_of(path)
    except DamagedError:
        return None
