"""A run's checkpoint: its tensors and where in training they stand, in one safetensors file."""

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
from depthgauge.training.engine import Position, RunState

PARTS = ("parameters", "feedback", "moments")
NOISE = "noise"
BEFORE_CHECKSUMS = {"schema_version", "epoch"}
"""All that a checkpoint said before there were checksums."""


def write_checkpoint(path: Path, state: RunState) -> None:
    """Write a state with its checksum; loss sums are kept to the last bit."""
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


def read_checkpoint(path: Path) -> RunState:
    """The state, every bit of it as it was written."""
    _check_file(path)
    try:
        with safe_open(path, framework="pt") as handle:
            metadata = dict(handle.metadata() or {})
            tensors = {key: handle.get_tensor(key) for key in handle.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise DamagedError(f"is cut short or damaged ({error})") from error
    checksum = metadata.pop("checksum", None)
    _check_version(metadata)
    unchecked = checksum is None and metadata.keys() <= BEFORE_CHECKSUMS
    if not unchecked and checksum != _checksum(tensors, metadata):
        raise DamagedError("is damaged: its bytes do not have the checksum it was written with")
    return _state(tensors, metadata)


def position_of(path: Path) -> Position | None:
    """Where a checkpoint stands, by its header alone; None if there is none.

    A file that cannot be read raises `DamagedError`.
    """
    if not path.exists():
        return None
    _check_file(path)
    try:
        with safe_open(path, framework="pt") as handle:
            metadata = dict(handle.metadata() or {})
    except SafetensorError as error:
        raise DamagedError(f"is cut short or damaged ({error})") from error
    _check_version(metadata)
    return _position(metadata)


def _check_file(path: Path) -> None:
    """Whatever the system refuses to open is refused here, in its own words: no damage is meant."""
    if not path.is_file():
        raise DamagedError("is not a file")
    path.open("rb").close()


def _state(tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> RunState:
    parts: dict[str, dict[str, Any]] = {part: {} for part in PARTS}
    for key, tensor in tensors.items():
        part, _, name = key.partition("/")
        if part in parts:
            parts[part][name] = tensor
    epoch, step = _position(metadata)
    loss = float.fromhex(metadata.get("loss", "0x0p+0"))
    return RunState(epoch, **parts, step=step, loss=loss, noise=tensors.get(NOISE))


def _position(metadata: Mapping[str, str]) -> Position:
    try:
        return int(metadata["epoch"]), int(metadata.get("step", "0"))
    except (KeyError, ValueError) as error:
        raise DamagedError("does not say which epoch it is of") from error


def _check_version(metadata: Mapping[str, str]) -> None:
    found = metadata.get("schema_version")
    if found != str(SCHEMA_VERSION):
        raise DamagedError(
            f"has the schema version {found}; this version of depthgauge knows {SCHEMA_VERSION}"
        )


def _checksum(tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> str:
    digest = hashlib.sha256(json.dumps(metadata, sort_keys=True).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
        digest.update(tensor.contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()
