"""Files that are either whole or not there."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

from pydantic_core import from_json

from depthgauge.errors import UserError

AT_ONCE = 2**16


def make_folder(path: Path) -> Path:
    """Make a folder, with those above it; what is in the way is said."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{path} cannot be made a folder ({error.strerror})") from error
    return path


def write_atomically(path: Path, write: Callable[[Path], None]) -> None:
    """Let `write` make a temporary file beside `path`, then put it in place in one step."""
    temporary = _temporary(path)
    try:
        write(temporary)
        sync(temporary)
        os.replace(temporary, path)
        sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def create_exclusively(path: Path, text: str) -> bool:
    """Make a file that nobody else has made; False if somebody has.

    A link to a finished file appears whole or not at all, also on NFS, and to one of several
    writers alone.
    """
    temporary = _temporary(path)
    try:
        temporary.write_text(text, encoding="utf-8")
        sync(temporary)
        os.link(temporary, path)
    except FileExistsError:
        return _links(temporary) > 1  # NFS may have lost the answer to our own link
    finally:
        temporary.unlink(missing_ok=True)
    sync(path.parent)
    return True


def _links(path: Path) -> int:
    """Names of a file; an opened one is looked up anew, also on NFS."""
    with path.open("rb") as handle:
        return os.fstat(handle.fileno()).st_nlink


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.{uuid4().hex}.tmp")


def sync(path: Path) -> None:
    """Have what was written to a file, or the names in a folder, on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_bytes(path: Path, content: bytes) -> None:
    """Write a whole file atomically."""

    def write(temporary: Path) -> None:
        temporary.write_bytes(content)

    write_atomically(path, write)


def write_text(path: Path, text: str) -> None:
    """Write a whole text file atomically."""
    write_bytes(path, text.encode())


def write_json(path: Path, document: Any) -> None:
    """Write a JSON document atomically."""
    write_text(path, as_json(document))


def as_json(document: Any) -> str:
    """A JSON document as it stands in a file."""
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def finite(value: Any) -> Any:
    """A document in which what is not finite has become None, as JSON needs it."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    if isinstance(value, dict):
        return {name: finite(item) for name, item in value.items()}
    return value


def read_small(path: str) -> bytes:
    """A whole file, without Python's file objects: they cost more than reading so little does."""
    handle = os.open(path, os.O_RDONLY)
    try:
        parts = [os.read(handle, AT_ONCE)]
        while len(parts[-1]) == AT_ONCE:
            parts.append(os.read(handle, AT_ONCE))
    finally:
        os.close(handle)
    return b"".join(parts)


def content_of(path: Path) -> Any:
    """A JSON file's content; None if it has none. One that may not be read is not a bad one."""
    try:
        return from_json(path.read_bytes())
    except (ValueError, FileNotFoundError):
        return None


def read_json(path: Path) -> Any:
    """Read a JSON document; a corrupt one is the user's to look at, never overwritten."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise UserError(
            f"{path} cannot be read ({error}); nothing was changed: repair it, or remove it to "
            "have it made again"
        ) from error
