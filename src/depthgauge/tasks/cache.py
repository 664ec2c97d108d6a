"""Where fetched data sets are kept: one safetensors file each, which appears whole or not at all.

A fetch works in a scratch folder next to the file, under a lock, and renames its result into
place. A killed fetch therefore leaves only a scratch folder, which the next fetch clears away.
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
from depthgauge.tasks.cifar_sets import Arrays, CifarSet, flaw_in_form


def cache_dir() -> Path:
    """The folder of all fetched data: `DEPTHGAUGE_DATA`, or the platform's cache folder."""
    chosen = os.environ.get("DEPTHGAUGE_DATA")
    return Path(chosen).expanduser() if chosen else Path(platformdirs.user_cache_dir("depthgauge"))


def path_of(name: str) -> Path:
    """The file that holds the data set `name` once it is fetched."""
    return cache_dir() / f"{name}.safetensors"


def scratch_folders(name: str) -> list[Path]:
    """The folders of fetches of `name` that are under way or were killed."""
    return list(cache_dir().glob(f"{name}.partial-*"))


def read(dataset: CifarSet) -> tuple[Arrays, dict[str, str]]:
    """The cached arrays, checked for form, and the SHA-256 digests recorded with them."""
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
    flaw = flaw_in_form(arrays, dataset)
    if flaw:
        raise UserError(f"{path} is damaged ({flaw}); get it again with {command}")
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
    """An empty scratch folder for one fetch of `name`, gone afterwards.

    Only one process has one at a time; a second one is told through `on_wait` and waits. Whoever
    holds the lock knows that the scratch folders already there were left by killed fetches.
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
        _clear_scratch(name)
        with writing_to_cache():
            scratch = Path(tempfile.mkdtemp(prefix=f"{name}.partial-", dir=folder))
        yield scratch
    finally:
        _clear_scratch(name)
        lock.release()


def _clear_scratch(name: str) -> None:
    for scratch in scratch_folders(name):
        shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def writing_to_cache() -> Iterator[None]:
    """Turn a failure to write into a sentence that says how to choose another folder."""
    try:
        yield
    except OSError as error:
        raise UserError(
            f"the cache folder {cache_dir()} cannot be written ({error}); "
            "set DEPTHGAUGE_DATA to a folder that can"
        ) from error
