"""A data set that can be fetched: its arrays, and the checks that vouch for them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.uint8]
Arrays = dict[str, Array]


class DataSet(Protocol):
    """A data set of uint8 arrays; arrays whose names begin with y hold labels.

    Attributes:
        name: the name in commands and in the cache.
        num_classes: the number of classes.
        sha256: the known SHA-256 digests of the arrays, by name.
        shapes: the shape of each array, by name.
    """

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def num_classes(self) -> int: ...  # noqa: D102
    @property
    def sha256(self) -> Mapping[str, str]: ...  # noqa: D102
    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]: ...  # noqa: D102


def sha256_by_name(arrays: Arrays) -> dict[str, str]:
    """Return the SHA-256 of each array's bytes, by the array's name."""
    return {
        name: hashlib.sha256(np.ascontiguousarray(array).data).hexdigest()
        for name, array in arrays.items()
    }


def find_wrong_form(arrays: Arrays, dataset: DataSet) -> str | None:
    """Return a sentence about the first wrong shape, type or label; None if all are right."""
    for name, shape in dataset.shapes.items():
        array = arrays[name]
        if array.shape != shape or array.dtype != np.uint8:
            return f"{name} is {array.dtype} {array.shape}, not uint8 {shape}"
        if name.startswith("y") and array.max(initial=0) >= dataset.num_classes:
            return f"{name} holds the label {array.max()}, above {dataset.num_classes - 1}"
    return None


def find_wrong_digest(found: Mapping[str, str], expected: Mapping[str, str]) -> str | None:
    """Return a sentence about the first array with a wrong SHA-256; None if all are right."""
    for name, digest in expected.items():
        if found.get(name) != digest:
            return f"{name} has SHA-256 {found.get(name)}, not {digest}"
    return None
