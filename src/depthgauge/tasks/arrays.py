"""A user's own data: four arrays in one `.npz` file.

    np.savez("mine.npz", x_train=..., y_train=..., x_test=..., y_test=...)

`x` holds one sample per row, any further axes are flattened to features; `y` holds whole numbers
from 0. Everything is checked here, so that nothing downstream meets a surprise.
"""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from depthgauge.errors import UserError
from depthgauge.tasks.base import Split, Task

_NAMES = ("x_train", "y_train", "x_test", "y_test")
_HOW_TO_WRITE = "write it with numpy.savez(file, x_train=…, y_train=…, x_test=…, y_test=…)"
_UNREADABLE = (OSError, ValueError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)

_Array = NDArray[Any]


def load_arrays(path: str | Path) -> Task:
    """The task in the file `path`, named after the file; num_classes = largest training label + 1.

    Raises:
        UserError: the file cannot be read, or an array in it is not fit for classification.
    """
    path = Path(path)
    return _task(str(path), path.stem, _read(path))


def task_from_arrays(arrays: Sequence[Any], name: str = "arrays") -> Task:
    """Return the task of x_train, y_train, x_test and y_test: arrays, tensors or nested lists."""
    if len(arrays) != len(_NAMES):
        raise UserError(f"a task is four arrays, {', '.join(_NAMES)}; {len(arrays)} were given")
    try:
        raw = {key: np.asarray(array) for key, array in zip(_NAMES, arrays, strict=True)}
    except (TypeError, ValueError) as error:
        raise UserError(f"the task's arrays cannot be read as numbers: {error}") from error
    return _task("the task's arrays", name, raw)


def save_task(task: Task, folder: Path) -> Path:
    """Write a task's arrays into a folder, and return the file that `load_arrays` reads.

    Raises:
        UserError: the file would not be the same task: its images are augmented, or there are
            classes without training samples.
    """
    if task.pixels is not None or task.num_classes != int(task.train.y.max()) + 1:
        raise UserError(
            f"the task {task.name} cannot be saved as arrays; write a function that returns it, "
            "and give it as file.py:function"
        )
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{task.name}.npz"
    arrays = (task.train.x, task.train.y, task.evaluation.x, task.evaluation.y)
    content = io.BytesIO()
    named: dict[str, Any] = {n: a.numpy() for n, a in zip(_NAMES, arrays, strict=True)}
    np.savez(content, **named)
    temporary = folder / f".{path.name}.{os.getpid()}.tmp"
    temporary.write_bytes(content.getvalue())
    temporary.replace(path)
    return path


def _task(where: str, name: str, raw: Mapping[str, _Array]) -> Task:
    """The checked task in raw arrays; `where` is what messages call their place."""
    train, test = _split(where, raw, "train"), _split(where, raw, "test")
    _check_agreement(where, train, test)
    return Task(name, train, test, num_classes=int(train.y.max()) + 1)


def _read(path: Path) -> dict[str, _Array]:
    """The four arrays as they are stored; pickled objects are never loaded."""
    if not path.is_file():
        raise UserError(f"{path} is not a file; give the path of an existing .npz file")
    not_npz = f"{path} is not a readable .npz file; {_HOW_TO_WRITE}"
    try:
        archive = np.load(path, allow_pickle=False)
    except _UNREADABLE as error:
        raise UserError(not_npz) from error
    if not isinstance(archive, np.lib.npyio.NpzFile):
        raise UserError(not_npz)
    with archive:
        return {name: _member(path, archive, name) for name in _NAMES}


def _member(path: Path, archive: Mapping[str, _Array], name: str) -> _Array:
    """One array of the archive."""
    if name not in archive:
        found = ", ".join(archive) or "nothing"
        raise UserError(
            f"{path} has no array {name}: it holds {found}, and needs {', '.join(_NAMES)}"
        )
    try:
        array = archive[name]
    except _UNREADABLE as error:
        raise UserError(
            f"{path}: {name} cannot be read (a damaged file, or an array of Python objects); "
            "store plain numbers"
        ) from error
    if not isinstance(array, np.ndarray):
        raise UserError(f"{path}: {name} is not an array; {_HOW_TO_WRITE}")
    return array


def _split(path: str, raw: Mapping[str, _Array], part: str) -> Split:
    """The checked samples and labels of "train" or "test"."""
    x_name, y_name = f"x_{part}", f"y_{part}"
    x = _features(path, x_name, raw[x_name])
    y = _labels(path, y_name, raw[y_name])
    if len(x) != len(y):
        raise UserError(
            f"{path}: {x_name} has {len(x)} samples but {y_name} has {len(y)} labels; "
            "they must be equally many"
        )
    return Split(torch.from_numpy(x), torch.from_numpy(y))


def _features(path: str, name: str, x: _Array) -> _Array:
    """`x` as finite float32 of shape (samples, features)."""
    if x.dtype.kind not in "fiu":
        raise UserError(f"{path}: {name} has dtype {x.dtype}; it must hold floats or integers")
    if x.ndim < 2:  # noqa: PLR2004
        raise UserError(
            f"{path}: {name} has shape {x.shape}; it must be (samples, features), "
            "or have more axes, which are flattened"
        )
    if x.size == 0:
        raise UserError(
            f"{path}: {name} has shape {x.shape}; it needs at least one sample and one feature"
        )
    with np.errstate(over="ignore"):
        flat = np.ascontiguousarray(x.reshape(len(x), -1), dtype=np.float32)
    if not np.isfinite(flat).all():
        raise UserError(
            f"{path}: {name} has values that are not finite in float32; remove or replace them"
        )
    return flat


def _labels(path: str, name: str, y: _Array) -> _Array:
    """`y` as int64 of shape (samples,), every label at least 0."""
    if y.dtype.kind not in "iu":
        raise UserError(f"{path}: {name} has dtype {y.dtype}; it must hold integers")
    if y.ndim != 1:
        raise UserError(f"{path}: {name} has shape {y.shape}; it must be (samples,)")
    if y.size == 0:
        raise UserError(f"{path}: {name} is empty; it needs at least one label")
    if y.min() < 0:
        raise UserError(f"{path}: {name} has the label {y.min()}; labels are counted from 0")
    if y.max() > np.iinfo(np.int64).max:
        raise UserError(f"{path}: {name} has the label {y.max()}; number the classes from 0")
    return np.ascontiguousarray(y, dtype=np.int64)


def _check_agreement(path: str, train: Split, test: Split) -> None:
    """The two splits describe one problem, with classes that can be learned."""
    if train.x.shape[1] != test.x.shape[1]:
        raise UserError(
            f"{path}: x_train has {train.x.shape[1]} features but x_test has {test.x.shape[1]}; "
            "they must be equally many"
        )
    largest = int(train.y.max())
    if int(train.y.min()) == largest:
        raise UserError(f"{path}: y_train has a single class, {largest}; it needs at least two")
    if largest >= len(train):
        raise UserError(
            f"{path}: y_train has the label {largest} but only {len(train)} samples; "
            "number the classes 0, 1, 2, …"
        )
    if int(test.y.max()) > largest:
        raise UserError(
            f"{path}: y_test has the label {int(test.y.max())}, "
            f"but the labels in y_train end at {largest}; test only on classes seen in training"
        )
