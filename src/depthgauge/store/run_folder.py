"""The folder of one run: configuration, metrics, checkpoint, and the result that marks it done."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import BaseModel, ValidationError
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from depthgauge.config import SCHEMA_VERSION, RunConfig
from depthgauge.errors import UserError
from depthgauge.store.files import finite, read_json, write_atomically, write_json, write_text
from depthgauge.training.engine import RunState

PARTS = ("parameters", "feedback", "moments")


class RunFolder:
    """`config.json`, `metrics.jsonl`, `checkpoint.safetensors`, and last of all `result.json`.

    The checkpoint before the newest is kept until the run is done: a cohort that is killed while
    it saves continues from the newest epoch that *all* its runs have.
    """

    def __init__(self, runs: Path, config: RunConfig) -> None:
        self.config = config
        self.path = runs / config.identity
        self.metrics_path = self.path / "metrics.jsonl"
        self.result_path = self.path / "result.json"
        self.checkpoint_path = self.path / "checkpoint.safetensors"
        self.previous_path = self.path / "checkpoint.previous.safetensors"

    def create(self) -> None:
        """Make the folder and write down what it is for."""
        self.path.mkdir(parents=True, exist_ok=True)
        write_json(self.path / "config.json", self.config.model_dump(mode="json"))

    @property
    def result(self) -> dict[str, Any] | None:
        """The finished result, or None while the run is not done."""
        if not self.result_path.exists():
            return None
        result = read_json(self.result_path)
        try:
            whole = _ResultFile.model_validate(result).identity == self.config.identity
        except ValidationError:
            whole = False
        if not whole:
            raise UserError(
                f"{self.result_path} is not the whole result of this run; nothing was changed: "
                "remove it to have the run made again"
            )
        return dict(result)

    def append_metrics(self, line: dict[str, Any]) -> None:
        """Add one epoch; what is not finite becomes null."""
        with self.metrics_path.open("a", encoding="utf-8") as handle:
            handle.write(json.dumps(finite(line), allow_nan=False) + "\n")

    def metrics(self) -> list[dict[str, Any]]:
        """All epochs in order; a line that a kill cut short does not count."""
        by_epoch: dict[int, dict[str, Any]] = {}
        if self.metrics_path.exists():
            for text in self.metrics_path.read_text(encoding="utf-8").splitlines():
                try:
                    line = json.loads(text)
                except ValueError:
                    continue
                by_epoch[line["epoch"]] = line
        return [by_epoch[epoch] for epoch in sorted(by_epoch)]

    def rewind(self, epoch: int | None) -> None:
        """Drop what came after the epoch the run continues from; everything if there is none."""
        kept = [line for line in self.metrics() if epoch is not None and line["epoch"] <= epoch]
        write_text(self.metrics_path, "".join(json.dumps(line) + "\n" for line in kept))
        if epoch is not None and _epoch_of(self.checkpoint_path) != epoch:
            os.replace(self.previous_path, self.checkpoint_path)

    def save(self, state: RunState) -> None:
        """Write the checkpoint; the one before it stays beside it."""
        _sync(self.metrics_path)
        tensors = {
            f"{part}/{name}": tensor.cpu().clone(memory_format=torch.contiguous_format)
            for part in PARTS
            for name, tensor in getattr(state, part).items()
        }
        metadata = {"schema_version": str(SCHEMA_VERSION), "epoch": str(state.epoch)}

        def write(path: Path) -> None:
            save_file(tensors, path, metadata)
            newest = _epoch_of(self.checkpoint_path)
            if newest is not None and newest < state.epoch:
                os.replace(self.checkpoint_path, self.previous_path)

        write_atomically(self.checkpoint_path, write)

    def saved(self) -> dict[int, Path]:
        """The checkpoints that are there and readable, by epoch."""
        found = ((_epoch_of(path), path) for path in (self.previous_path, self.checkpoint_path))
        return {epoch: path for epoch, path in found if epoch is not None}

    def finish(self, provenance: dict[str, Any]) -> None:
        """Write `result.json`: from now on the run is done."""
        metrics = self.metrics()
        if [line["epoch"] for line in metrics] != list(range(self.config.recipe.epochs + 1)):
            raise UserError(
                f"{self.metrics_path} has lost epochs; remove the folder {self.path} to have the "
                "run made again"
            )
        diverged = next((line["epoch"] for line in metrics if line["diverged"]), None)
        write_json(
            self.result_path,
            {
                "schema_version": SCHEMA_VERSION,
                "identity": self.config.identity,
                "status": "finished" if diverged is None else "diverged",
                "final_acc": metrics[-1]["accuracy"] if diverged is None else None,
                "diverged_epoch": diverged,
                "final": metrics[-1],
                "provenance": provenance,
            },
        )
        self.previous_path.unlink(missing_ok=True)


class _Final(BaseModel):
    h_norm: list[float | None]
    g_norm: list[float | None]


class _Provenance(BaseModel):
    commit: str | None


class _ResultFile(BaseModel):
    """What must be in a result."""

    schema_version: Literal[1]
    identity: str
    status: Literal["finished", "diverged"]
    final_acc: float | None
    diverged_epoch: int | None
    final: _Final
    provenance: _Provenance


def newest_common_epoch(folders: Sequence[RunFolder]) -> int | None:
    """The newest epoch that every one of the runs has saved, if there is one."""
    common = set.intersection(*(set(folder.saved()) for folder in folders))
    return max(common, default=None)


def load_states(folders: Sequence[RunFolder], epoch: int) -> list[RunState]:
    """Every run's state of that epoch."""
    return [_load(folder.saved()[epoch]) for folder in folders]


def _epoch_of(path: Path) -> int | None:
    """The epoch of a checkpoint; None if it is not there or was cut short."""
    try:
        with safe_open(path, framework="pt") as handle:
            return int(handle.metadata()["epoch"])
    except (SafetensorError, OSError, KeyError, TypeError, ValueError):
        return None


def _load(path: Path) -> RunState:
    parts: dict[str, dict[str, Any]] = {part: {} for part in PARTS}
    with safe_open(path, framework="pt") as handle:
        for key in handle.keys():  # noqa: SIM118
            part, _, name = key.partition("/")
            parts[part][name] = handle.get_tensor(key)
        return RunState(int(handle.metadata()["epoch"]), **parts)


def _sync(path: Path) -> None:
    with path.open("rb") as handle:
        os.fsync(handle.fileno())
