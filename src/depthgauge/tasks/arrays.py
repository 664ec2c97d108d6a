"""Load and save a user's own data: four arrays in one `.npz` file.

    np.savez("mine.npz", x_train=..., y_train=..., x_test=..., y_test=...)

Each row of `x` is one sample; further axes are flattened to features. `y` holds class numbers,
counted from 0. All checks of the data are in this file: other modules rely on them.
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
    """Load the task in the file `path`; the task has the file's name.

    The number of classes is the largest training label + 1.

    Raises:
        UserError: the file cannot be read, or an array in it is unfit for classification.
    """
    path = Path(path)
    return _make_task(str(path), path.stem, _read_arrays(path))


def task_from_arrays(arrays: Sequence[Any], name: str = "arrays") -> Task:
    """Make a task from x_train, y_train, x_test and y_test: arrays, tensors or nested lists."""
    if len(arrays) != len(_NAMES):
        raise UserError(f"a task is four arrays, {', '.join(_NAMES)}; {len(arrays)} were given")
    try:
        raw = {key: np.asarray(array) for key, array in zip(_NAMES, arrays, strict=True)}
    except (TypeError, ValueError) as error:
        raise UserError(f"the task's arrays cannot be read as numbers: {error}") from error
    return _make_task("the task's arrays", name, raw)


def save_task(task: Task, folder: Path) -> Path:
    """Write a task's arrays into a folder; return the file, which `load_arrays` can read.

    Raises:
        UserError: the file would lose something: the task's images are augmented in training, or
            its last classes have no training samples.
    """
    if task.pixels is not None or task.num_classes != int(task.train.y.max()) + 1:
        raise UserError(
            f"the task {task.name} cannot be saved as arrays: arrays can hold neither images to "
            "augment nor classes without training samples; write a function that returns the task, "
            "and name the function as file.py:function"
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


def _make_task(where: str, name: str, raw: Mapping[str, _Array]) -> Task:
    """Check raw arrays and make a task from them; error messages begin with `where`."""
    train, test = _make_split(where, raw, "train"), _make_split(where, raw, "test")
    _check_agreement(where, train, test)
    return Task(name, train, test, num_classes=int(train.y.max()) + 1)


def _read_arrays(path: Path) -> dict[str, _Array]:
    """Read the four arrays as they are stored; never load pickled objects."""
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
        return {name: _read_array(path, archive, name) for name in _NAMES}


def _read_array(path: Path, archive: Mapping[str, _Array], name: str) -> _Array:
    """Read one array of the archive."""
    if name not in archive:
        found = ", ".join(archive) or "nothing"
        raise UserError(
            f"{path} has no array {name}; the file holds {found}, but needs {', '.join(_NAMES)}"
        )
    try:
        array = archive[name]
    except _UNREADABLE as error:
        raise UserError(
            f"{path}: {name} cannot be read: the file is damaged, or the array holds Python "
            "objects; store plain numbers"
        ) from error
    if not isinstance(array, np.ndarray):
        raise UserError(f"{path}: {name} is not an array; {_HOW_TO_WRITE}")
    return array


def _make_split(path: str, raw: Mapping[str, _Array], part: str) -> Split:
    """Check and convert the samples and labels of `part`, which is "train" or "test"."""
    x_name, y_name = f"x_{part}", f"y_{part}"
    x = _features(path, x_name, raw[x_name])
    y = _labels(path, y_name, raw[y_name])
    if len(x) != len(y):
        raise UserError(
            f"{path}: {x_name} has {len(x)} samples but {y_name} has {len(y)} labels; "
            "give one label for each sample"
        )
    return Split(torch.from_numpy(x), torch.from_numpy(y))


def _features(path: str, name: str, x: _Array) -> _Array:
    """Return `x` as finite float32 numbers of shape (samples, features)."""
    if x.dtype.kind not in "fiu":
        raise UserError(f"{path}: {name} has dtype {x.dtype}; give floats or integers")
    if x.ndim < 2:  # noqa: PLR2004
        raise UserError(
            f"{path}: {name} has shape {x.shape}; the shape must be (samples, features), "
            "or have more axes; all axes after the first are then flattened into features"
        )
    if x.size == 0:
        raise UserError(
            f"{path}: {name} has shape {x.shape}; give at least one sample and one feature"
        )
    with np.errstate(over="ignore"):
        flat = np.ascontiguousarray(x.reshape(len(x), -1), dtype=np.float32)
    if not np.isfinite(flat).all():
        raise UserError(
            f"{path}: {name} has values that are not finite in float32; remove or replace them"
        )
    return flat


def _labels(path: str, name: str, y: _Array) -> _Array:
    """Return `y` as int64 numbers of shape (samples,), every label at least 0."""
    if y.dtype.kind not in "iu":
        raise UserError(f"{path}: {name} has dtype {y.dtype}; give integers")
    if y.ndim != 1:
        raise UserError(f"{path}: {name} has shape {y.shape}; the shape must be (samples,)")
    if y.size == 0:
        raise UserError(f"{path}: {name} is empty; give at least one label")
    if y.min() < 0:
        raise UserError(f"{path}: {name} has the label {y.min()}; labels are counted from 0")
    if y.max() > np.iinfo(np.int64).max:
        raise UserError(
            f"{path}: {name} has the label {y.max()}, which is too large; number the classes 0, 1, "
            "2, …"
        )
    return np.ascontiguousarray(y, dtype=np.int64)


def _check_agreement(path: str, train: Split, test: Split) -> None:
    """Refuse splits with different numbers of features, and labels that are unfit.

    Training labels are unfit if they have one class only, or if there are more classes than
    samples. A test label is unfit if it is above all training labels.
    """
    if train.x.shape[1] != test.x.shape[1]:
        raise UserError(
            f"{path}: x_train has {train.x.shape[1]} features but x_test has {test.x.shape[1]}; "
            "the two numbers must be equal"
        )
    largest = int(train.y.max())
    if int(train.y.min()) == largest:
        raise UserError(f"{path}: y_train has a single class, {largest}; give at least two")
    if largest >= len(train):
        raise UserError(
            f"{path}: y_train has the label {largest} but only {len(train)} samples; "
            "number the classes 0, 1, 2, …"
        )
    if int(test.y.max()) > largest:
        raise UserError(
            f"{path}: y_test has the label {int(test.y.max())}, "
            f"but the largest label in y_train is {largest}; test only on classes seen in training"
        )
