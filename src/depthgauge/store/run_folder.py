"""The folder of one run: configuration, metrics, checkpoint, and the result that marks it done."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from depthgauge.config import SCHEMA_VERSION, RunConfig
from depthgauge.errors import UserError
from depthgauge.store.checkpoint import OpenCheckpoint, position_of, write_checkpoint
from depthgauge.store.files import (
    as_json,
    content_of,
    create_exclusively,
    read_json,
    sync,
    write_atomically,
    write_json,
)
from depthgauge.store.metrics_file import MetricsFile
from depthgauge.store.provenance import Provenance
from depthgauge.store.quarantine import DamagedError, put_aside
from depthgauge.store.result_file import ResultFile, RightAnswers, result_of, what_is_wrong
from depthgauge.store.run_paths import FailureFile, RunPaths
from depthgauge.training.loop import Position, RunState


class RunFolder(RunPaths):
    """`config.json`, `metrics.jsonl`, `checkpoint.safetensors`, and last of all `result.json`.

    The checkpoint before the newest is kept until the run is done: a cohort that is killed while
    it saves continues from the newest position that *all* its runs have. A run that raised an
    error has `failed.json` instead of a result.
    """

    def __init__(self, runs: Path, config: RunConfig) -> None:
        super().__init__(runs / config.identity)
        self.config, self.metrics = config, MetricsFile(self.metrics_path)

    def create(self) -> None:
        """Make the folder and write down what it is for."""
        self.path.mkdir(parents=True, exist_ok=True)
        wanted = self.config.model_dump(mode="json")
        if self.config_path.exists():
            if content_of(self.config_path) == wanted:
                return
            put_aside(self.config_path, "is not the configuration that its folder is named after")
        write_json(self.config_path, wanted)

    @property
    def result(self) -> ResultFile | None:
        """The finished result, or None while the run is not done."""
        if not self.result_path.exists():
            return None
        result: ResultFile = read_json(self.result_path)
        if what_is_wrong(result, self.config.identity) is not None:
            raise UserError(
                f"{self.result_path} is not the whole result of this run; nothing was changed: "
                "remove it to have the run made again"
            )
        return result

    def rewind(self, position: Position | None) -> None:
        """Drop what came after the position the run goes on from; everything if there is none."""
        self.metrics.rewind(None if position is None else position[0])
        if position is not None and _readable_position(self.checkpoint_path) != position:
            os.replace(self.previous_path, self.checkpoint_path)

    def save(self, state: RunState) -> None:
        """Write the checkpoint; the one before it stays beside it."""
        sync(self.metrics.path)

        def write(path: Path) -> None:
            write_checkpoint(path, state)
            newest = _readable_position(self.checkpoint_path)
            if newest is not None and newest < state.position:
                os.replace(self.checkpoint_path, self.previous_path)

        write_atomically(self.checkpoint_path, write)

    def saved(self, *, mend: bool = False) -> dict[Position, OpenCheckpoint]:
        """The checkpoints that are there and readable, by position.

        With `mend`, those whose header cannot be read are put aside.
        """
        found = {}
        for path in (self.previous_path, self.checkpoint_path):
            try:
                checkpoint = OpenCheckpoint(path) if path.exists() else None
            except DamagedError as error:
                checkpoint = None
                if mend:
                    put_aside(path, str(error))
            if checkpoint is not None:
                found[checkpoint.position] = checkpoint
        return found

    def load(self, position: Position) -> RunState | None:
        """The state saved at a position; None if it is damaged, and then it was put aside."""
        return _read_or_put_aside(self.saved()[position])

    def finish(self, provenance: Provenance, right: RightAnswers | None = None) -> None:
        """Write `result.json`: from now on the run is done. One that is there is never replaced."""
        result = result_of(self.config, self.metrics.lines(), provenance, right)
        create_exclusively(self.result_path, as_json(result))
        self.previous_path.unlink(missing_ok=True)

    def fail(self, reason: str, details: str, provenance: Provenance) -> None:
        """Write `failed.json`: the run raised an error, and is left alone until it is retried."""
        failure: FailureFile = {
            "schema_version": SCHEMA_VERSION,
            "identity": self.config.identity,
            "reason": reason,
            "details": details,
            "provenance": provenance,
        }
        write_json(self.failed_path, failure)


def newest_common_position(folders: Sequence[RunFolder]) -> Position | None:
    """The newest position that every run has saved and has all metrics up to; None if none."""
    return max(set.intersection(*(set(_usable(folder)) for folder in folders)), default=None)


def _usable(folder: RunFolder, *, mend: bool = False) -> dict[Position, OpenCheckpoint]:
    """The checkpoints of a run that has all metrics up to them."""
    saved, recorded = folder.saved(mend=mend), folder.metrics.epochs_without_gap()
    return {position: found for position, found in saved.items() if position[0] < recorded}


def load_newest(folders: Sequence[RunFolder]) -> list[RunState] | None:
    """Every run's state at the newest position all have in good order; None if there is none.

    What is damaged is put aside.
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
        put_aside(checkpoint.path, str(error))
        return None


def _readable_position(path: Path) -> Position | None:
    try:
        return position_of(path)
    except DamagedError:
        return None
