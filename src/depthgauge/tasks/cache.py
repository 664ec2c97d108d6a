"""Keep fetched data sets in a cache: one safetensors file for each data set, always complete.

A fetch takes a lock, works in a scratch folder next to the file, and renames its result into
place. A killed fetch therefore leaves only a scratch folder; the next fetch deletes that folder.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs
from filelock import FileLock, Timeout
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from depthgauge.errors import UserError
from depthgauge.tasks.data_set import Arrays, DataSet, find_wrong_form


def cache_dir() -> Path:
    """Return the folder of fetched data: `DEPTHGAUGE_DATA`, or the platform's cache folder."""
    chosen = os.environ.get("DEPTHGAUGE_DATA")
    return Path(chosen).expanduser() if chosen else Path(platformdirs.user_cache_dir("depthgauge"))


def path_of(name: str) -> Path:
    """Return the file that holds the data set `name` once it is fetched."""
    return cache_dir() / f"{name}.safetensors"


def scratch_folders(name: str) -> list[Path]:
    """List the scratch folders of all fetches of `name` that are running or were killed."""
    return list(cache_dir().glob(f"{name}.partial-*"))


def read(dataset: DataSet) -> tuple[Arrays, dict[str, str]]:
    """Read the cached arrays and the SHA-256 digests stored with them.

    Raises:
        UserError: the data set is not in the cache, or cannot be read, or its arrays have wrong
            shapes, types or labels.
    """
    path = path_of(dataset.name)
    command = f"`depthgauge data fetch {dataset.name}`"
    if not path.is_file():
        raise UserError(f"{dataset.name} is not in the cache; get it with {command}")
    try:
        with safe_open(path, framework="np") as file:
            arrays: Arrays = {key: file.get_tensor(key) for key in dataset.shapes}
            digests: dict[str, str] = file.metadata() or {}
    except (OSError, SafetensorError) as error:
        raise UserError(f"{path} cannot be read ({error}); get it again with {command}") from error
    wrong = find_wrong_form(arrays, dataset)
    if wrong:
        raise UserError(f"{path} is damaged ({wrong}); get it again with {command}")
    return arrays, digests


def store(name: str, arrays: Arrays, digests: dict[str, str], scratch: Path) -> Path:
    """Write the arrays and their digests into `scratch`, then rename the file into place."""
    draft, path = scratch / "draft.safetensors", path_of(name)
    with writing_to_cache():
        with draft.open("wb") as file:
            file.write(save(arrays, metadata=digests))
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    return path


@contextmanager
def workspace(name: str, on_wait: Callable[[], None]) -> Iterator[Path]:
    """Make an empty scratch folder for one fetch of `name`, and delete it at the end.

    A lock lets only one process in at a time; another process calls `on_wait` and waits. Scratch
    folders that exist when the lock is taken were left by killed fetches, so they are deleted.
    """
    folder = cache_dir()
    with writing_to_cache():
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / f"{name}.lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            on_wait()
            lock.acquire()
    try:
        _delete_scratch_folders(name)
        with writing_to_cache():
            scratch = Path(tempfile.mkdtemp(prefix=f"{name}.partial-", dir=folder))
        yield scratch
    finally:
        _delete_scratch_folders(name)
        lock.release()


def _delete_scratch_folders(name: str) -> None:
    for scratch in scratch_folders(name):
        shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def writing_to_cache() -> Iterator[None]:
    """Turn an OSError inside the `with` block into a UserError that says what to do."""
    try:
        yield
    except OSError as error:
        raise UserError(
            f"cannot write to the cache folder {cache_dir()} ({error}); "
            "set DEPTHGAUGE_DATA to a folder that can be written"
        ) from error
