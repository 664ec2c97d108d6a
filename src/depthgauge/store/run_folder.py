"""The folder of one run: configuration, metrics, checkpoint, and the result that marks it done."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from depthgauge.config import SCHEMA_VERSION, RunConfig
from depthgauge.errors import UserError
from depthgauge.store.checkpoint import position_of, read_checkpoint, write_checkpoint
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
from depthgauge.store.result_file import result_of, what_is_wrong
from depthgauge.store.run_paths import RunPaths
from depthgauge.training.engine import Position, RunState


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
    def result(self) -> dict[str, Any] | None:
        """The finished result, or None while the run is not done."""
        if not self.result_path.exists():
            return None
        result = read_json(self.result_path)
        if what_is_wrong(result, self.config.identity) is not None:
            raise UserError(
                f"{self.result_path} is not the whole result of this run; nothing was changed: "
                "remove it to have the run made again"
            )
        return dict(result)

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

    def saved(self) -> dict[Position, Path]:
        """The checkpoints that are there and readable, by position."""
        found = ((_readable_position(p), p) for p in (self.previous_path, self.checkpoint_path))
        return {position: path for position, path in found if position is not None}

    def load(self, position: Position) -> RunState | None:
        """The state saved at a position; None if it is damaged, and then it was put aside."""
        path = self.saved()[position]
        try:
            return read_checkpoint(path)
        except DamagedError as error:
            put_aside(path, str(error))
            return None

    def put_damaged_aside(self) -> None:
        """Checkpoints whose header cannot be read."""
        for path in (self.previous_path, self.checkpoint_path):
            try:
                position_of(path)
            except DamagedError as error:
                put_aside(path, str(error))

    def finish(self, provenance: Provenance) -> None:
        """Write `result.json`: from now on the run is done. One that is there is never replaced."""
        result = result_of(self.config, self.metrics.lines(), provenance)
        create_exclusively(self.result_path, as_json(result))
        self.previous_path.unlink(missing_ok=True)

    def fail(self, reason: str, details: str, provenance: Provenance) -> None:
        """Write `failed.json`: the run raised an error, and is left alone until it is retried."""
        failed = {"reason": reason, "details": details, "provenance": provenance}
        known = {"schema_version": SCHEMA_VERSION, "identity": self.config.identity}
        write_json(self.failed_path, known | failed)


def newest_common_position(folders: Sequence[RunFolder]) -> Position | None:
    """The newest position that every run has saved and has all metrics up to; None if none."""
    usable = [
        {position for position in folder.saved() if position[0] < recorded}
        for folder in folders
        for recorded in [folder.metrics.epochs_without_gap()]
    ]
    return max(set.intersection(*usable), default=None)


def load_newest(folders: Sequence[RunFolder]) -> list[RunState] | None:
    """Every run's state at the newest position all have in good order; None if there is none.

    What is damaged is put aside.
    """
    for folder in folders:
        folder.put_damaged_aside()
    while (position := newest_common_position(folders)) is not None:
        states = [folder.load(position) for folder in folders]
        if all(state is not None for state in states):
            return [state for state in states if state is not None]
    return None


def _readable_position(path: Path) -> Position | None:
    try:
        return position_of(path)
    except DamagedError:
        return None
