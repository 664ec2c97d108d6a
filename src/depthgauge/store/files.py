"""Read and write files; a file is written whole or not at all."""

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

CHUNK = 2**16
"""Bytes that `read_small` reads at once."""


def make_folder(path: Path) -> Path:
    """Create a folder with its parents."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot create the folder {path}: {error.strerror}") from error
    return path


def write_atomically(path: Path, write: Callable[[Path], None]) -> None:
    """Let `write` write a temporary file beside `path`, then rename it to `path` in one step."""
    temporary = _temporary(path)
    try:
        write(temporary)
        sync(temporary)
        os.replace(temporary, path)
        sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def create_exclusively(path: Path, text: str) -> bool:
    """Create a file unless it exists; return whether this process created it.

    The text is written to a temporary file, and a link makes it appear under its name. A link
    appears whole or not at all, and only one of several writers can make it, also on NFS.
    """
    temporary = _temporary(path)
    try:
        temporary.write_text(text, encoding="utf-8")
        sync(temporary)
        os.link(temporary, path)
    except FileExistsError:
        return _count_links(temporary) > 1  # our own link, if NFS lost the answer to it
    finally:
        temporary.unlink(missing_ok=True)
    sync(path.parent)
    return True


def _count_links(path: Path) -> int:
    """Count the names of a file; opening it makes NFS look again."""
    with path.open("rb") as handle:
        return os.fstat(handle.fileno()).st_nlink


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.{uuid4().hex}.tmp")


def sync(path: Path) -> None:
    """Force the content of a file, or the names in a folder, onto the disk."""
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
    """Return a JSON document as the text of a file."""
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def finite(value: Any) -> Any:
    """Return a document with None for every infinity and NaN, which JSON cannot hold."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    if isinstance(value, dict):
        return {name: finite(item) for name, item in value.items()}
    return value


def read_small(path: str) -> bytes:
    """Return the content of a small file, without the cost of Python's file objects."""
    handle = os.open(path, os.O_RDONLY)
    try:
        parts = [os.read(handle, CHUNK)]
        while len(parts[-1]) == CHUNK:
            parts.append(os.read(handle, CHUNK))
    finally:
        os.close(handle)
    return b"".join(parts)


def read_json_or_none(path: Path) -> Any:
    """Return the content of a JSON file; None if there is no file, or it is not JSON.

    If the system refuses to read the file, its error is raised: the file may be in good order.
    """
    try:
        return from_json(path.read_bytes())
    except (ValueError, FileNotFoundError):
        return None


def read_json(path: Path) -> Any:
    """Return the content of a JSON file; a damaged file is refused, and never overwritten."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise UserError(
            f"{path} cannot be read ({error}); nothing was changed: repair the file, or remove it "
            "and run the command again"
        ) from error
