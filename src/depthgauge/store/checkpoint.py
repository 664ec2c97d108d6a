"""A run's checkpoint: its tensors and its position in training, in one safetensors file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from depthgauge.config import SCHEMA_VERSION
from depthgauge.store.quarantine import DamagedError
from depthgauge.training.trainee import Position, RunState

PARTS = ("parameters", "feedback", "moments")
NOISE = "noise"
BEFORE_CHECKSUMS = {"schema_version", "epoch"}
"""The metadata of old checkpoints, which have no checksum."""


def write_checkpoint(path: Path, state: RunState) -> None:
    """Write a run's state and its checksum to a file; every number is stored exactly."""
    tensors = {
        f"{part}/{name}": tensor.cpu().clone(memory_format=torch.contiguous_format)
        for part in PARTS
        for name, tensor in getattr(state, part).items()
    }
    if state.noise is not None:
        tensors[NOISE] = state.noise
    metadata = {
        "schema_version": str(SCHEMA_VERSION),
        "epoch": str(state.epoch),
        "step": str(state.step),
        "loss": float(state.loss).hex(),
    }
    whole = metadata | {"checksum": _checksum(tensors, metadata)}
    path.write_bytes(save(tensors, whole))


class OpenCheckpoint:
    """An open checkpoint file: opening it reads the header, `read` reads the tensors.

    A file that is cut short, damaged or of another version raises `DamagedError`. If the system
    refuses to open the file, its OSError is raised, since the file itself may be undamaged.
    """

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise DamagedError("the checkpoint is not a file")
        try:
            handle: Any = safe_open(path, framework="pt")
        except SafetensorError as error:
            raise DamagedError(f"the checkpoint is cut short or damaged ({error})") from error
        except FileNotFoundError:
            path.open("rb").close()  # raises the true reason, which safetensors does not tell
            raise
        self.path, self._handle = path, handle
        self._metadata: dict[str, str] = dict(handle.metadata() or {})
        _check_version(self._metadata)
        self.position = _position(self._metadata)

    def read(self) -> RunState:
        """Return the state, exactly as it was written."""
        metadata = dict(self._metadata)
        checksum = metadata.pop("checksum", None)
        try:
            tensors = {key: self._handle.get_tensor(key) for key in self._handle.keys()}  # noqa: SIM118
        except SafetensorError as error:
            raise DamagedError(f"the checkpoint is cut short or damaged ({error})") from error
        unchecked = checksum is None and metadata.keys() <= BEFORE_CHECKSUMS
        if not unchecked and checksum != _checksum(tensors, metadata):
            raise DamagedError("the checkpoint is damaged: its content does not match its checksum")
        return _state(tensors, metadata)


def read_checkpoint(path: Path) -> RunState:
    """Return the state in a checkpoint."""
    return OpenCheckpoint(path).read()


def position_of(path: Path) -> Position | None:
    """Return the epoch and step in a checkpoint's header; None if there is no file."""
    return OpenCheckpoint(path).position if path.exists() else None


def _state(tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> RunState:
    parts: dict[str, dict[str, Tensor]] = {part: {} for part in PARTS}
    for key, tensor in tensors.items():
        part, _, name = key.partition("/")
        if part in parts:
            parts[part][name] = tensor
    epoch, step = _position(metadata)
    loss = float.fromhex(metadata.get("loss", "0x0p+0"))
    return RunState(
        epoch=epoch,
        parameters=parts["parameters"],
        feedback=parts["feedback"],
        moments=parts["moments"],
        step=step,
        loss=loss,
        noise=tensors.get(NOISE),
    )


def _position(metadata: Mapping[str, str]) -> Position:
    try:
        return int(metadata["epoch"]), int(metadata.get("step", "0"))
    except (KeyError, ValueError) as error:
        raise DamagedError("the checkpoint does not say at which epoch it was saved") from error


def _check_version(metadata: Mapping[str, str]) -> None:
    found = metadata.get("schema_version")
    if found != str(SCHEMA_VERSION):
        raise DamagedError(
            f"the checkpoint has the schema version {found}; this version of depthgauge knows "
            f"{SCHEMA_VERSION}"
        )


def _checksum(tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> str:
    digest = hashlib.sha256(json.dumps(metadata, sort_keys=True).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
        digest.update(tensor.contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()
