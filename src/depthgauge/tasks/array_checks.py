"""Check a user's arrays and make a task of them; every refusal is one sentence.

All checks of users' data are in this file: other modules rely on them. Samples are numbers in any
shape (x), or sequences of tokens. Targets are classes, classes of tokens, or real numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from depthgauge.errors import UserError
from depthgauge.losses.labels import IGNORED
from depthgauge.tasks.base import Split, Task

Array = NDArray[Any]

MATRIX = 2
"""The number of axes of tokens, of labels per token, and of real targets."""


def make_task(where: str, name: str, raw: Mapping[str, Array], *, tokens: bool) -> Task:
    """Check raw arrays and make a task of them; error messages begin with `where`.

    Args:
        where: the file, or words for the arrays.
        name: the name of the task.
        raw: the arrays by name: x_train, y_train, x_test, y_test, or tokens_… for x_….
        tokens: whether the samples are tokens.
    """
    real = raw["y_train"].dtype.kind == "f"
    train, test = (_make_split(where, raw, part, tokens, real) for part in ("train", "test"))
    _check_shapes(where, train, test, "tokens" if tokens else "x")
    if real:
        classes, loss = train.y.shape[1], "squared_error"
    else:
        classes, loss = _check_classes(where, train, test), "cross_entropy"
    return Task(name, train, test, num_classes=classes, loss=loss)


def _make_split(where: str, raw: Mapping[str, Array], part: str, tokens: bool, real: bool) -> Split:
    """Check and convert the samples and targets of `part`, which is "train" or "test"."""
    x_name, y_name = f"{'tokens' if tokens else 'x'}_{part}", f"y_{part}"
    read = _tokens if tokens else _features
    x = read(where, x_name, raw[x_name])
    y = _real_targets(where, y_name, raw[y_name]) if real else _labels(where, y_name, raw[y_name])
    if len(x) != len(y):
        raise UserError(
            f"{where}: {x_name} has {len(x)} samples but {y_name} has {len(y)} labels; "
            "give one label for each sample"
        )
    if not real and y.ndim == MATRIX and not (tokens and x.shape == y.shape):
        raise UserError(
            f"{where}: {y_name} has shape {y.shape}; the shape must be (samples,), or for labels "
            "of tokens the shape of the tokens"
        )
    return Split(torch.from_numpy(x), torch.from_numpy(y))


def _features(where: str, name: str, x: Array) -> Array:
    """Return `x` as finite float32 numbers of shape (samples, …)."""
    if x.dtype.kind not in "fiu":
        raise UserError(f"{where}: {name} has dtype {x.dtype}; give floats or integers")
    if x.ndim < MATRIX:
        raise UserError(
            f"{where}: {name} has shape {x.shape}; the shape must be (samples, features), "
            "(samples, channels, height, width), or have other axes after the samples"
        )
    return _as_float32(where, name, x, "sample and one feature")


def _tokens(where: str, name: str, x: Array) -> Array:
    """Return tokens as int64 numbers of shape (samples, positions)."""
    if x.dtype.kind not in "iu":
        raise UserError(f"{where}: {name} has dtype {x.dtype}; give integers")
    if x.ndim != MATRIX or x.size == 0:
        raise UserError(
            f"{where}: {name} has shape {x.shape}; the shape must be (samples, positions)"
        )
    if x.min() < 0 or x.max() >= x.size:
        wrong = x.min() if x.min() < 0 else x.max()
        raise UserError(f"{where}: {name} has the token {wrong}; number the tokens 0, 1, 2, …")
    return np.ascontiguousarray(x, dtype=np.int64)


def _real_targets(where: str, name: str, y: Array) -> Array:
    """Return real targets as finite float32 numbers of shape (samples, targets)."""
    if y.dtype.kind not in "fiu":
        raise UserError(f"{where}: {name} has dtype {y.dtype}; give floats, as in y_train")
    if y.ndim != MATRIX:
        raise UserError(
            f"{where}: {name} has dtype {y.dtype} and shape {y.shape}; give integers for classes, "
            "or for real targets the shape (samples, targets)"
        )
    return _as_float32(where, name, y, "sample and one target")


def _as_float32(where: str, name: str, array: Array, least: str) -> Array:
    """Return finite float32 numbers; refuse an empty array, which lacks at least one `least`."""
    if array.size == 0:
        raise UserError(f"{where}: {name} has shape {array.shape}; give at least one {least}")
    with np.errstate(over="ignore"):
        numbers = np.ascontiguousarray(array, dtype=np.float32)
    if not np.isfinite(numbers).all():
        raise UserError(
            f"{where}: {name} has values that are not finite in float32; remove or replace them"
        )
    return numbers


def _labels(where: str, name: str, y: Array) -> Array:
    """Return classes as int64 numbers from 0 on; labels of tokens may also be −100."""
    if y.dtype.kind not in "iu":
        raise UserError(f"{where}: {name} has dtype {y.dtype}; give integers")
    if not 1 <= y.ndim <= MATRIX:
        raise UserError(f"{where}: {name} has shape {y.shape}; the shape must be (samples,)")
    if y.size == 0:
        raise UserError(f"{where}: {name} is empty; give at least one label")
    counted = y[y != IGNORED] if y.ndim == MATRIX else y
    if counted.size == 0:
        raise UserError(f"{where}: all labels in {name} are −100; give labels that count")
    if counted.min() < 0:
        raise UserError(f"{where}: {name} has the label {counted.min()}; labels are counted from 0")
    if counted.max() > np.iinfo(np.int64).max:
        raise UserError(f"{where}: {name} has the label {counted.max()}; number the classes from 0")
    return np.ascontiguousarray(y, dtype=np.int64)


def _check_shapes(where: str, train: Split, test: Split, x: str) -> None:
    """Refuse splits whose samples or targets differ in shape."""
    own, other = tuple(train.x.shape[1:]), tuple(test.x.shape[1:])
    if own != other:
        flat = len(own) == len(other) == 1
        axes = "positions" if x == "tokens" else "features"
        words = [f"{shape[0]} {axes}" if flat else f"the shape {shape}" for shape in (own, other)]
        raise UserError(
            f"{where}: {x}_train has {words[0]} but {x}_test has {words[1]}; "
            f"the two {'numbers' if flat else 'shapes'} must be equal"
        )
    if train.y.shape[1:] != test.y.shape[1:]:
        raise UserError(
            f"{where}: y_train has the shape {tuple(train.y.shape)} but y_test has "
            f"{tuple(test.y.shape)}; both must have the same axes after the samples"
        )


def _check_classes(where: str, train: Split, test: Split) -> int:
    """Return the number of classes; refuse labels that training cannot teach."""
    labels, tested = (split.y[split.y != IGNORED] for split in (train, test))
    largest = int(labels.max())
    if int(labels.min()) == largest:
        raise UserError(f"{where}: y_train has a single class, {largest}; give at least two")
    if largest >= len(labels):
        raise UserError(
            f"{where}: y_train has the label {largest} but only {len(labels)} samples; "
            "number the classes 0, 1, 2, …"
        )
    if int(tested.max()) > largest:
        raise UserError(
            f"{where}: y_test has the label {int(tested.max())}, "
            f"but the largest label in y_train is {largest}; test only on classes seen in training"
        )
    return largest + 1
