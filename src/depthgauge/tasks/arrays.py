"""Load and save a user's own data: four arrays in one `.npz` file.

    np.savez("mine.npz", x_train=..., y_train=..., x_test=..., y_test=...)

The first axis of `x` is the samples; a sample keeps its shape, such as (channels, height, width).
Tokens have names of their own, `tokens_train` and `tokens_test`, since integers in `x` are numbers.
`y` holds classes counted from 0, one for each sample or one for each token, where −100 does not
count; or floats (samples, targets), which are real targets. docs/tasks/arrays.md has examples.
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

from depthgauge.errors import UserError
from depthgauge.tasks.array_checks import MATRIX, Array, make_task
from depthgauge.tasks.base import Task

_NAMES = ("x_train", "y_train", "x_test", "y_test")
_TOKEN_NAMES = ("tokens_train", "y_train", "tokens_test", "y_test")
_HOW_TO_WRITE = "write it with numpy.savez(file, x_train=…, y_train=…, x_test=…, y_test=…)"
_UNREADABLE = (OSError, ValueError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)


def load_arrays(path: str | Path) -> Task:
    """Load the task in the file `path`; the task has the file's name.

    The number of classes is the largest training label + 1.

    Raises:
        UserError: the file cannot be read, or an array in it is unfit for learning.
    """
    path = Path(path)
    arrays = _read_arrays(path)
    return make_task(str(path), path.stem, arrays, tokens=_TOKEN_NAMES[0] in arrays)


def task_from_arrays(arrays: Sequence[Any], name: str = "arrays") -> Task:
    """Make a task from x_train, y_train, x_test and y_test: arrays, tensors or nested lists.

    Samples are tokens if they are integers and every one of them has a label.
    """
    if len(arrays) != len(_NAMES):
        raise UserError(f"a task is four arrays, {', '.join(_NAMES)}; {len(arrays)} were given")
    try:
        made = [np.asarray(array) for array in arrays]
    except (TypeError, ValueError) as error:
        raise UserError(f"the task's arrays cannot be read as numbers: {error}") from error
    x, y = made[:2]
    whole = x.dtype.kind in "iu" and y.dtype.kind in "iu"
    tokens = whole and y.ndim == MATRIX and x.shape == y.shape
    raw = dict(zip(_TOKEN_NAMES if tokens else _NAMES, made, strict=True))
    return make_task("the task's arrays", name, raw, tokens=tokens)


def save_task(task: Task, folder: Path) -> Path:
    """Write a task's arrays into a folder; return the file, which `load_arrays` can read.

    Raises:
        UserError: the file would lose something: the task's images are augmented in training, its
            last classes have no training samples, or it has a loss of its own.
    """
    usual_loss = "squared_error" if task.is_regression else "cross_entropy"
    classes = task.num_classes if task.is_regression else int(task.train.y.max()) + 1
    if task.pixels is not None or (task.num_classes, task.loss) != (classes, usual_loss):
        raise UserError(
            f"the task {task.name} cannot be saved as arrays: arrays can hold neither images to "
            "augment, nor classes without training samples, nor another loss; write a function "
            "that returns the task, and name the function as file.py:function"
        )
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{task.name}.npz"
    arrays = (task.train.x, task.train.y, task.evaluation.x, task.evaluation.y)
    names = _NAMES if task.symbols is None else _TOKEN_NAMES
    content = io.BytesIO()
    named: dict[str, Any] = {n: a.numpy() for n, a in zip(names, arrays, strict=True)}
    np.savez(content, **named)
    temporary = folder / f".{path.name}.{os.getpid()}.tmp"
    temporary.write_bytes(content.getvalue())
    temporary.replace(path)
    return path


def _read_arrays(path: Path) -> dict[str, Array]:
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
        names = _TOKEN_NAMES if _TOKEN_NAMES[0] in archive else _NAMES
        return {name: _read_array(path, archive, name, names) for name in names}


def _read_array(path: Path, archive: Mapping[str, Array], name: str, names: Sequence[str]) -> Array:
    """Read one array of the archive, which needs all `names`."""
    if name not in archive:
        found = ", ".join(archive) or "nothing"
        raise UserError(
            f"{path} has no array {name}; the file holds {found}, but needs {', '.join(names)}"
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
