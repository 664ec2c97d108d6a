"""Read checkpoints of other programs: plain tensors in a `.pt` or `.safetensors` file."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

from depthgauge.errors import UserError

StateDict = dict[str, Tensor]

HOLDERS = ("state_dict", "model_state_dict", "model", "net")
"""Keys under which training scripts often store the state dict."""


@dataclass(frozen=True)
class PlainCheckpoint:
    """The content of a checkpoint: a state dict, and the feedback matrices `Bs` if it has any."""

    state_dict: StateDict
    matrices: list[Tensor] | None


def read_plain_checkpoint(path: Path) -> PlainCheckpoint:
    """Read a file of plain tensors; a pickle with other content is refused, and never loaded."""
    if not path.is_file():
        raise UserError(f"there is no checkpoint {path}; check the path")
    content = _load(path)
    state_dict = _state_dict_in(content)
    if state_dict is None:
        raise UserError(
            f"{path} holds no state dict; save `model.state_dict()`, alone or in a dict under one "
            f"of the keys {', '.join(map(repr, HOLDERS))}"
        )
    prefix = "module."
    if all(name.startswith(prefix) for name in state_dict):
        state_dict = {name.removeprefix(prefix): t for name, t in state_dict.items()}
    return PlainCheckpoint(state_dict, _matrices_in(content, path))


def _load(path: Path) -> Any:
    try:
        if path.suffix == ".safetensors":
            return load_file(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        if "unsupported" in str(error).lower() and _is_pickle(path):
            raise UserError(
                f"{path} holds more than plain tensors and is not loaded, because loading the file "
                "could run code that it contains; save `model.state_dict()` alone"
            ) from error
        raise UserError(
            f"cannot read {path}: the file is damaged, or is not a checkpoint; save the "
            "checkpoint again"
        ) from error


def _is_pickle(path: Path) -> bool:
    """Return whether the file begins like a pickle, or like torch's archive of a pickle."""
    with path.open("rb") as handle:
        return handle.read(2)[:1] in (b"\x80", b"P")


def _state_dict_in(content: Any) -> StateDict | None:
    if not isinstance(content, Mapping):
        return None
    for holder in HOLDERS:
        if _is_state_dict(content.get(holder)):
            return dict(content[holder])
    return dict(content) if _is_state_dict(content) else None


def _is_state_dict(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and bool(value)
        and all(isinstance(tensor, Tensor) for tensor in value.values())
    )


def _matrices_in(content: Any, path: Path) -> list[Tensor] | None:
    matrices = content.get("Bs") if isinstance(content, Mapping) else None
    if matrices is None:
        return None
    if isinstance(matrices, Mapping):
        matrices = list(matrices.values())
    listed = isinstance(matrices, list | tuple) or (isinstance(matrices, Tensor) and matrices.dim())
    found = list(matrices) if listed else []
    if not found or not all(_is_finite_matrix(matrix) for matrix in found):
        raise UserError(
            f"`Bs` in {path} must be a list of feedback matrices with finite entries; save such a "
            "list, or leave out `Bs`"
        )
    return found


def _is_finite_matrix(value: Any) -> bool:
    return isinstance(value, Tensor) and value.dim() == 2 and bool(value.isfinite().all())  # noqa: PLR2004
