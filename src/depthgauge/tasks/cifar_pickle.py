"""Read CIFAR's Python files safely.

A pickle can call any function that it names. The original files name three functions of numpy, all
harmless. A file that names any other function is refused before a function is called.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import UserError

ALLOWED = {
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
}


class _ForbiddenNameError(Exception):
    """The pickle names a function or type that no CIFAR file needs."""


class _RestrictedUnpickler(pickle.Unpickler):
    """An unpickler that can make numpy arrays and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in ALLOWED:
            raise _ForbiddenNameError(f"{module}.{name}")
        if name == "_reconstruct":
            return _empty_array
        return getattr(np, name)


def _empty_array(subtype: type, shape: tuple[int, ...], _typecode: bytes) -> NDArray[np.uint8]:
    """Return the empty array that a pickle starts from; shape, type and bytes are set later."""
    if subtype is not np.ndarray or shape != (0,):
        raise _ForbiddenNameError(f"an array of type {subtype} and shape {shape}")
    return np.ndarray(shape, np.uint8)


def load_restricted(content: bytes, name: str) -> dict[bytes, Any]:
    """Return the dictionary pickled in `content`; its strings are bytes, as in Python 2."""
    try:
        loaded = _RestrictedUnpickler(io.BytesIO(content), encoding="bytes").load()
    except _ForbiddenNameError as error:
        raise UserError(
            f"{name} is refused: the pickle asks for {error}, which no original CIFAR file does; "
            "download it again"
        ) from error
    except Exception as error:  # a damaged pickle can fail in any way
        raise UserError(
            f"{name} is truncated or not a CIFAR file ({error}); download it again"
        ) from error
    if not isinstance(loaded, dict):
        raise UserError(
            f"{name} holds a {type(loaded).__name__}, not a dictionary of images; download it again"
        )
    return loaded
